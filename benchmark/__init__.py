"""What pure Python costs: cudapy next to equivalent C++ and next to other Python packages, in one run.

`python -m benchmark` runs it all; README.md says what is measured and how.
"""

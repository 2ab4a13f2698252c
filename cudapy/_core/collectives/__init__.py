"""Collectives of several devices, on NCCL: communicators, operands, and how processes find each other."""

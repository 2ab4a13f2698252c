"""What the site is made of beside the pages of docs/: the API reference, the gallery, links."""

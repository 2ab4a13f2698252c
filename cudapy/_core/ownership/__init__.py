"""Who releases what, and when; what is kept alive, by a call, a stream or a graph; what captures allow."""

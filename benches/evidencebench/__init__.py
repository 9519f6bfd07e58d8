"""What benches/evidence.py is made of."""

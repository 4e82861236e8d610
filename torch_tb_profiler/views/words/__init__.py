"""Texts that payloads share."""

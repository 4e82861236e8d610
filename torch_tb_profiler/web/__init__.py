"""HTTP: routes, parameters, encoding, the one error shape, static files, the stand-alone server."""

"""Every operator whose name does not begin with an underscore."""

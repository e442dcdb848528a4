"""The test bed: wheels made on the fly, a local index that misbehaves, bad scripts, random histories."""

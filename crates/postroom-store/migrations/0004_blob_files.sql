-- Large bytes by their digest alone, so that a file that no row names is found at the start.
CREATE INDEX blobs_in_files ON blobs (sha256) WHERE place = 'file';

-- A domain belongs to the tenant that named it first, so a new address asks for every row of a name.

CREATE INDEX domains_of_name ON domains (name);

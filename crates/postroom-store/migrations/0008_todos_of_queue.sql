-- Only statements that say so read the todos of a queue by this index: while the table is small it
-- looks as good as the key for one todo, and PostgreSQL keeps the plan while the table grows.

DROP INDEX todos_of_queue;
CREATE INDEX todos_of_queue ON todos (tenant_id, queue, id) WHERE queue <> '';

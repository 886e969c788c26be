-- What must happen in one round trip, and decide by what is committed when it gets its lock: inside a function each
-- statement sees what was committed before it.
SELECT 1;

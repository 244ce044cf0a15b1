-- How text must look, for GLOB. A CHECK cannot refer to it, and can be turned off; the triggers do.
-- `readable`: it has a sign that a person could see, which is none of the controls, spaces, breaks, what
-- Unicode ignores by default (joiners, fillers, variation selectors, tags), and the blank braille pattern.
-- What stands after a NUL is seen by nobody either: GLOB ends there.

DROP VIEW IF EXISTS form;
CREATE VIEW form AS
SELECT '*[^'
        || char(1) || '-' || char(32) || char(127) || '-' || char(160) || char(173) || char(847)
        || char(1564) || char(4447) || '-' || char(4448) || char(5760)
        || char(6068) || '-' || char(6069) || char(6155) || '-' || char(6159)
        || char(8192) || '-' || char(8207) || char(8232) || '-' || char(8239)
        || char(8287) || '-' || char(8303) || char(10240) || char(12288) || char(12644)
        || char(65024) || '-' || char(65039) || char(65279) || char(65440)
        || char(65520) || '-' || char(65531) || char(113824) || '-' || char(113827)
        || char(119155) || '-' || char(119162) || char(917504) || '-' || char(921599)
        || ']*' AS readable,
       '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]'
        || '.[0-9][0-9][0-9][0-9][0-9][0-9]Z' AS time;

"""The rules: from recorded loads to a verdict. Pure: no browser, no database, no clock."""

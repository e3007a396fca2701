-- Each sign-in looks for what the browser owned before.
create index transfer_browsers_by_browser on transfer_browsers (browser);

-- The project "Lantern", a small photo library: fixed texts and times only, so that every copy is the same.
-- Times are microseconds since 1970, UTC.
INSERT INTO permission (username, action) VALUES ('anonymous', 'TRAC_ADMIN');

DELETE FROM component;
INSERT INTO component (name, owner, description) VALUES
    ('import', 'maria', 'Reading pictures from cameras and folders'),
    ('gallery', 'jonas', 'The page of pictures'),
    ('search', 'maria', 'Finding pictures by text, place and date'),
    ('sharing', 'ahmed', 'Links and albums for other people'),
    ('documentation', 'lin', 'Manual and help texts');

DELETE FROM milestone;
INSERT INTO milestone (name, due, completed, description) VALUES
    ('1.0', 1743465600000000, 1743422400000000, 'First public release.'),
    ('1.1', 1798761600000000, 0, 'Faster gallery, better search.'),
    ('2.0', 1830297600000000, 0, 'Albums that several people edit.'),
    ('Someday', 0, 0, 'Ideas without a date.');

DELETE FROM version;
INSERT INTO version (name, time, description) VALUES
    ('0.9', 1735689600000000, 'Trial release'),
    ('1.0', 1743465600000000, 'First public release');

INSERT INTO ticket (id, type, time, changetime, component, severity, priority, owner, reporter, cc, version, milestone,
    status, resolution, summary, description, keywords) VALUES
    (1, 'defect', 1744012800000000, 1744012800000000, 'gallery', NULL, 'major', 'jonas', 'maria', '', '1.0', '1.1',
        'new', NULL, 'Thumbnails are blurred on wide screens',
        'On a screen of 3840 pixels the small pictures are drawn at twice their size.', 'thumbnails'),
    (2, 'defect', 1744099200000000, 1744358400000000, 'import', NULL, 'critical', 'maria', 'ahmed', 'lin', '1.0', '1.1',
        'accepted', NULL, 'Import stops at file names with an umlaut',
        'Folders from a camera that is set to German end the import without a message.', 'unicode'),
    (3, 'enhancement', 1744185600000000, 1744185600000000, 'search', NULL, 'minor', 'maria', 'lin', '', '1.0', '1.1',
        'new', NULL, 'Search by camera model',
        'Allow the name of the camera in the search field.', ''),
    (4, 'defect', 1744272000000000, 1744617600000000, 'sharing', NULL, 'blocker', 'ahmed', 'jonas', '', '1.0', '1.1',
        'assigned', NULL, 'Shared links expire after one hour',
        'The setting says seven days.', 'links'),
    (5, 'task', 1744358400000000, 1744358400000000, 'documentation', NULL, 'major', 'lin', 'maria', '', '', '1.1',
        'new', NULL, 'Describe the backup of the picture folder',
        'A page of the manual with the steps for a backup and for putting it back.', 'manual'),
    (6, 'enhancement', 1744444800000000, 1744444800000000, 'gallery', NULL, 'trivial', 'jonas', 'ahmed', '', '1.0',
        'Someday', 'new', NULL, 'Dark background for the gallery',
        'Bright pages tire the eyes in the evening.', ''),
    (7, 'defect', 1739174400000000, 1740384000000000, 'import', NULL, 'major', 'maria', 'jonas', '', '0.9', '1.0',
        'closed', 'fixed', 'Pictures are imported twice',
        'Starting the import again copies everything once more.', 'duplicates'),
    (8, 'task', 1744531200000000, 1744531200000000, 'sharing', NULL, 'minor', 'ahmed', 'lin', '', '', '2.0',
        'new', NULL, 'Sketch the rights of album guests',
        'Who may add, who may delete, who may invite.', 'albums'),
    (9, 'enhancement', 1744617600000000, 1744617600000000, 'search', NULL, 'major', 'maria', 'maria', 'jonas', '1.0',
        '2.0', 'new', NULL, 'Find pictures near a place',
        'A circle on the map instead of a name.', 'map'),
    (10, 'defect', 1739347200000000, 1740643200000000, 'gallery', NULL, 'minor', 'jonas', 'lin', '', '0.9', '1.0',
        'closed', 'wontfix', 'Animated pictures do not move in the gallery',
        'They move when opened, but not in the gallery.', '');

INSERT INTO ticket_change (ticket, time, author, field, oldvalue, newvalue) VALUES
    (2, 1744358400000000, 'maria', 'status', 'new', 'accepted'),
    (2, 1744358400000000, 'maria', 'comment', '1', 'I can reproduce it with one picture called Müller.jpg.'),
    (4, 1744617600000000, 'jonas', 'status', 'new', 'assigned'),
    (4, 1744617600000000, 'jonas', 'comment', '1', 'Ahmed knows this code best.'),
    (7, 1740384000000000, 'maria', 'status', 'new', 'closed'),
    (7, 1740384000000000, 'maria', 'resolution', '', 'fixed'),
    (7, 1740384000000000, 'maria', 'comment', '1', 'Compared by content now.'),
    (10, 1740643200000000, 'jonas', 'status', 'new', 'closed'),
    (10, 1740643200000000, 'jonas', 'resolution', '', 'wontfix'),
    (10, 1740643200000000, 'jonas', 'comment', '1', 'It would make the page slow.');

UPDATE wiki SET time = 1735689600000000;
UPDATE wiki SET text = '= Lantern =

A photo library for small groups.

 * [wiki:ReleaseChecklist Release checklist]
 * [wiki:TeamContacts Team and contacts]
 * [wiki:BackupGuide Backup guide]
 * [query:status=!closed&milestone=1.1 Open tickets of 1.1]
' WHERE name = 'WikiStart';
INSERT INTO wiki (name, version, time, author, text, comment, readonly) VALUES
    ('ReleaseChecklist', 1, 1743422400000000, 'jonas', '= Release checklist =

 1. Close or move every ticket of the milestone.
 1. Run the import of the large sample folder.
 1. Update the manual.
 1. Build the packages and write the announcement.
', 'First list', 0),
    ('TeamContacts', 1, 1743508800000000, 'maria', '= Team and contacts =

||= Name =||= Area =||= Phone =||
|| Maria || import, search || 5541 ||
|| Jonas || gallery || 5542 ||
|| Ahmed || sharing || 5563 ||
|| Lin || documentation || 5570 ||
', '', 0),
    ('BackupGuide', 1, 1743595200000000, 'lin', '= Backup guide =

Copy the folder `library` while the program is closed. Keep three copies.
', 'Draft', 0);

-- Two projects of the expense manager, with the history rows the application would have written for them. Fixed texts
-- and times only, so that every copy is the same. The private codes are `demo` and `compost`.
INSERT INTO project (id, name, password, contact_email, logging_preference, default_currency) VALUES
    ('demo', 'Lisbon trip',
        'pbkdf2:sha256:1000$2rUnqomtDtiV2yJ1$f667d2088842b05e2ba459ae5451034e4ad26203e1bbf49d8aee14de96ab4d45',
        'amina@example.com', 'ENABLED', 'XXX'),
    ('garden-club', 'Garden club',
        'pbkdf2:sha256:1000$OArae0Xy9fjcK60J$84d0277e4f34ec7a18fa80b5d9b167dbbeb5dab71c5ea1285a862c31d32f0d1a',
        'treasurer@example.com', 'ENABLED', 'XXX');

INSERT INTO person (id, project_id, name, activated, weight) VALUES
    (1, 'demo', 'Amina', 1, 1.0),
    (2, 'demo', 'Georg', 1, 1.0),
    (3, 'demo', 'Alice', 1, 1.0),
    (4, 'demo', 'Tomás', 1, 2.0),
    (5, 'garden-club', 'Irene', 1, 1.0),
    (6, 'garden-club', 'Hassan', 1, 1.0);

INSERT INTO bill (id, payer_id, amount, date, what, creation_date, external_link, converted_amount, original_currency,
    bill_type) VALUES
    (1, 1, 412.5, '2026-05-02', 'Apartment, three nights', '2026-05-02', '', 412.5, 'XXX', 'EXPENSE'),
    (2, 2, 58.4, '2026-05-02', 'Groceries', '2026-05-02', '', 58.4, 'XXX', 'EXPENSE'),
    (3, 3, 24.0, '2026-05-03', 'Tram tickets', '2026-05-03', '', 24.0, 'XXX', 'EXPENSE'),
    (4, 4, 96.8, '2026-05-03', 'Dinner in Alfama', '2026-05-03', '', 96.8, 'XXX', 'EXPENSE'),
    (5, 1, 36.0, '2026-05-04', 'Museum of tiles', '2026-05-04', '', 36.0, 'XXX', 'EXPENSE'),
    (6, 2, 18.5, '2026-05-04', 'Coffee and pastries', '2026-05-04', '', 18.5, 'XXX', 'EXPENSE'),
    (7, 3, 64.0, '2026-05-05', 'Train to Sintra', '2026-05-05', '', 64.0, 'XXX', 'EXPENSE'),
    (8, 4, 50.0, '2026-05-06', 'Paid back to Amina', '2026-05-06', '', 50.0, 'XXX', 'REIMBURSEMENT'),
    (9, 5, 80.0, '2026-04-11', 'Soil and seeds', '2026-04-11', '', 80.0, 'XXX', 'EXPENSE'),
    (10, 6, 22.0, '2026-04-18', 'Watering can', '2026-04-18', '', 22.0, 'XXX', 'EXPENSE');

INSERT INTO billowers (bill_id, person_id) VALUES
    (1, 1), (1, 2), (1, 3), (1, 4),
    (2, 1), (2, 2), (2, 3), (2, 4),
    (3, 1), (3, 2), (3, 3), (3, 4),
    (4, 1), (4, 2), (4, 3), (4, 4),
    (5, 1), (5, 3),
    (6, 2), (6, 3), (6, 4),
    (7, 1), (7, 2), (7, 3), (7, 4),
    (8, 1),
    (9, 5), (9, 6),
    (10, 5), (10, 6);

INSERT INTO "transaction" (id, issued_at) VALUES
    (1, '2026-05-02 08:00:00.000000'), (2, '2026-05-02 08:05:00.000000'), (3, '2026-05-06 20:00:00.000000');
INSERT INTO project_version (id, name, password, contact_email, logging_preference, transaction_id, operation_type,
    default_currency)
    SELECT id, name, password, contact_email, logging_preference, 1, 0, default_currency FROM project;
INSERT INTO person_version (id, project_id, name, weight, activated, transaction_id, operation_type)
    SELECT id, project_id, name, weight, activated, 2, 0 FROM person;
INSERT INTO bill_version (id, payer_id, amount, date, creation_date, what, external_link, transaction_id,
    operation_type, converted_amount, original_currency, bill_type)
    SELECT id, payer_id, amount, date, creation_date, what, external_link, 3, 0, converted_amount, original_currency,
        bill_type FROM bill;
INSERT INTO billowers_version (bill_id, person_id, transaction_id, operation_type)
    SELECT bill_id, person_id, 3, 0 FROM billowers;

import type { ErrorGroup } from './types.js'

export const storageErrors: readonly ErrorGroup[] = [
  {
    title: 'Starting',
    errors: [
      {
        codes: ['NODE_SETTINGS'],
        meaning: 'A setting, or a file that it names, is invalid',
        remedy: 'Correct what the message names; `ratatosk check` lists all faults',
      },
      {
        codes: ['NODE_DATA_DIR'],
        meaning: '`DATA_DIR` cannot be used, or another process uses it',
        remedy: 'Stop that process, or set another folder',
      },
      {
        codes: ['NODE_DATABASE'],
        meaning: 'The store cannot be opened',
        remedy: 'Follow the message; `ratatosk check` examines the server',
      },
      {
        codes: ['NODE_QUEUE'],
        meaning: 'The queue cannot be opened',
        remedy: 'Start Redis or PostgreSQL, or correct `REDIS_URL`',
      },
      {
        codes: ['NODE_GENESIS'],
        meaning: 'The ledger began with another genesis',
        remedy: 'Set `GENESIS_FILE` to the original file, or use an empty store',
      },
      {
        codes: ['NODE_LISTEN'],
        meaning: 'The node cannot listen on `HOST` and `PORT`',
        remedy: 'Stop the other process, or set another port',
      },
      {
        codes: ['NODE_BACKUP'],
        meaning: 'A backup or a restoration was not carried out',
        remedy: 'Follow the message; nothing was overwritten',
      },
    ],
  },
  {
    title: 'Database',
    errors: [
      {
        codes: ['STORE_UNAVAILABLE', 'DATABASE_UNAVAILABLE'],
        meaning: 'PostgreSQL does not answer, or its disk is full',
        remedy: 'Start it, free its disk, check the network. The node continues automatically',
      },
      {
        codes: ['STORE_TIMEOUT', 'DATABASE_TIMEOUT'],
        meaning: 'A statement or its wait for a lock took too long',
        remedy: 'Usually nothing: it is retried. If often, see [PostgreSQL](postgresql.md)',
      },
      {
        codes: ['STORE_CONFLICT', 'DATABASE_CONFLICT'],
        meaning: 'The data has changed since it was read',
        remedy: 'Nothing: it is retried',
      },
      {
        codes: ['STORE_CONFIGURATION', 'DATABASE_CONFIGURATION'],
        meaning: 'A wrong URL, user or database, or missing privileges',
        remedy: 'Correct `DATABASE_URL`, or grant what the message names',
      },
      {
        codes: ['STORE_SCHEMA_MISMATCH', 'DATABASE_SCHEMA_MISMATCH'],
        meaning: 'Another version of the node made the schema; nothing was changed',
        remedy: 'Start that version, or begin anew with another `DATABASE_SCHEMA` or `DATA_DIR`',
      },
      {
        codes: ['STORE_GENESIS_MISMATCH'],
        meaning: 'The ledger began with another genesis',
        remedy: 'See `NODE_GENESIS`',
      },
      {
        codes: ['STORE_LEASE_LOST'],
        meaning: 'Another process has become the sequencer; nothing was changed',
        remedy: 'Nothing. If often, the database is slow: raise `SEQUENCER_LEASE_MS`',
      },
      {
        codes: ['STORE_SLOW_SETTING', 'STORE_UNSAFE_SETTING'],
        meaning: 'A setting of PostgreSQL slows the node or can lose data',
        remedy: 'Change it as the message says; see [PostgreSQL](postgresql.md)',
      },
      {
        codes: ['STORE_FAILED', 'STORE_INVALID_ARGUMENT', 'DATABASE_FAILED', 'DATABASE_INVALID_ARGUMENT'],
        meaning: 'An unexpected failure; the cause is logged',
        remedy: 'Report it with the log if it repeats',
      },
      {
        codes: [
          'STORE_CLOSED',
          'DATABASE_CLOSED',
          'QUEUE_CLOSED',
          'ROOTS_CLOSED',
          'INDEX_CLOSED',
          'EVALUATOR_CLOSED',
          'DEVNET_CLOSED',
        ],
        meaning: 'The node was shutting down',
        remedy: 'Nothing',
      },
      {
        codes: ['INDEX_BEHIND'],
        meaning: 'The index lags behind the ledger',
        remedy: 'Wait; see `INDEX_MAX_LAG_MS`',
      },
      {
        codes: ['INDEX_DIVERGED', 'INDEX_GENESIS'],
        meaning: 'The index does not fit the ledger and is rebuilt',
        remedy: 'Wait until `/health/ready` is ready',
      },
    ],
  },
  {
    title: 'Queue',
    errors: [
      {
        codes: ['QUEUE_FULL'],
        meaning: '`QUEUE_MAX_WAITING` transactions, or as many bytes, wait',
        remedy: 'Retry after `Retry-After`. As the operator, add processors or raise the limit',
      },
      {
        codes: ['QUEUE_UNAVAILABLE'],
        meaning: 'Redis or PostgreSQL does not answer',
        remedy: 'Start it. The node continues automatically',
      },
      {
        codes: ['QUEUE_CONFIGURATION', 'QUEUE_SCHEMA_CONFLICT'],
        meaning: 'The queue cannot work with these settings',
        remedy: 'Correct `REDIS_URL`, `QUEUE_PREFIX` or `DATABASE_SCHEMA`',
      },
      {
        codes: ['QUEUE_REDIS_MAY_EVICT'],
        meaning: 'Redis may drop submissions when its memory is full',
        remedy: 'Set `maxmemory-policy noeviction`',
      },
      {
        codes: ['QUEUE_REDIS_NOT_PERSISTENT'],
        meaning: 'Redis loses submissions when it crashes',
        remedy: 'Set `appendonly yes`',
      },
    ],
  },
  {
    title: 'Roots and tries',
    errors: [
      {
        codes: ['ROOTS_STORE_CONFLICT', 'TRIE_STORE_CONFLICT'],
        meaning: 'Another process uses the folder of the roots',
        remedy: 'Give each process its own `DATA_DIR`',
      },
      {
        codes: ['ROOTS_STORE_CORRUPT', 'TRIE_STORE_CORRUPT'],
        meaning: 'The folder of the roots is damaged; the node moves it away and rebuilds',
        remedy: 'Nothing; later, delete the folder `….damaged`',
      },
      {
        codes: ['ROOTS_THREAD_ENDED', 'ROOTS_FAILED'],
        meaning: 'The thread of the roots ended or failed, as with too little memory or a full disk',
        remedy: 'Free memory and disk, then restart the node',
      },
      {
        codes: ['TRIE_*'],
        meaning: 'A proof or a change does not fit the trie',
        remedy: 'Compare with the root that the proof was made for',
      },
    ],
  },
]

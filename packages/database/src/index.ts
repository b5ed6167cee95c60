export {
  advisoryLock,
  type Connection,
  type Database,
  type Driver,
  type Executor,
  inSchema,
  lookUpByIndex,
  queryInIndexOrder,
  type Result,
  readInIndexOrder,
  type SharedDriver,
  type SqlTransaction,
  type TransactionExecutor,
} from './connection.js'
export {
  DatabaseError,
  type DatabaseErrorCode,
  type DatabaseErrorOptions,
  type DiskWatch,
  isDatabaseError,
  watchDisk,
} from './errors.js'
export { appliedMigrations, migrate, readMigrations } from './migrate.js'
export {
  bytesColumn,
  type Element,
  type Parameter,
  type ParameterType,
  parameterRows,
  toHex,
} from './parameters.js'
export { type EmbeddedConnection, type EmbeddedQueryOptions, openPGlite, type PGliteLike } from './pglite.js'
export { defaultApplicationName, openPostgres, type PostgresOptions } from './postgres.js'
export { bounded, keysetPages, maxPageBytes, maxPageRows, quoteSchema, type Sql, schema, sql } from './sql.js'
export {
  bool,
  bytea,
  type Columns,
  type Computed,
  type Field,
  int4,
  int8,
  nullable,
  type Row,
  type Statement,
  selectList,
  statement,
  text,
  timestamptz,
} from './statement.js'
export { createVacuum, keepVacuumed, type Vacuum } from './vacuum.js'

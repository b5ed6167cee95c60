export { advisoryLock, lookUpByIndex } from './advisory-lock.js'
export {
  type Connection,
  type Database,
  type Driver,
  type Executor,
  inSchema,
  queryInIndexOrder,
  type Result,
  readInIndexOrder,
  type SharedDriver,
  type SqlTransaction,
  type TransactionExecutor,
} from './connection.js'
export { type DiskWatch, watchDisk } from './disk.js'
export {
  DatabaseError,
  type DatabaseErrorCode,
  type DatabaseErrorOptions,
  isDatabaseError,
} from './errors.js'
export { bounded, keysetPages, maxPageBytes, maxPageRows } from './keyset-pages.js'
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
export { quoteSchema } from './schema-name.js'
export { type Sql, schema, sql } from './sql.js'
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

import type { Column, GetColumnData } from 'drizzle-orm'
import { DatabaseError } from './errors.js'
import { columnTypes, lastBuiltInType } from './parameters.js'
import type { Sql } from './sql.js'

/** The type of a result column that is computed rather than read from a table. */
export interface Computed<T> {
  readonly sqlType: keyof typeof columnTypes
  /** Only for the compiler. */
  readonly value?: T
}

/** The columns of a result, by the names that its rows have them under. */
export interface Columns {
  readonly [name: string]: Column | Computed<unknown>
}

/** A row as the tables and computed columns of its shape declare it. */
export type Row<S extends Columns> = {
  readonly [Name in keyof S]: S[Name] extends Column
    ? GetColumnData<S[Name]>
    : S[Name] extends Computed<infer T>
      ? T
      : never
}

/** SQL with the rows that it returns. */
export interface Statement<S extends Columns> {
  readonly returns: S
  readonly sql: Sql
}

/** A column in a result of the driver. */
export interface Field {
  readonly name: string
  readonly dataTypeID: number
}

export const int4: Computed<number> = { sqlType: 'integer' }
export const int8: Computed<bigint> = { sqlType: 'bigint' }
export const bool: Computed<boolean> = { sqlType: 'boolean' }
export const text: Computed<string> = { sqlType: 'text' }
export const bytea: Computed<Uint8Array> = { sqlType: 'bytea' }
export const timestamptz: Computed<Date> = { sqlType: 'timestamp with time zone' }

/** The same column where the statement may return NULL. */
export function nullable<T>(column: Computed<T>): Computed<T | null> {
  return column
}

/**
 * Declares what a statement returns. The first run checks it against the names and types that PostgreSQL
 * reports.
 */
export function statement<S extends Columns>(returns: S, sql: Sql): Statement<S> {
  return { returns, sql }
}

/**
 * The select list that reads table columns under the names of a shape, from `table` where a statement has
 * several.
 */
export function selectList(columns: { readonly [name: string]: Column }, table?: string): string {
  const prefix = table === undefined ? '' : `${table}.`
  return Object.entries(columns)
    .map(([name, column]) => `${prefix}${column.name}${column.name === name ? '' : ` AS "${name}"`}`)
    .join(', ')
}

/** @throws DatabaseError `DATABASE_FAILED` where a statement does not return what it declares. */
export function checkFields(returns: Columns, fields: readonly Field[], text: string): void {
  const wrong = Object.entries(returns).flatMap(([name, column]) => {
    const type = 'sqlType' in column ? column.sqlType : column.getSQLType()
    const field = fields.find((candidate) => candidate.name === name)
    return field !== undefined && isOfType(field.dataTypeID, type) ? [] : [`${name} ${type}`]
  })
  if (wrong.length === 0 && fields.length === Object.keys(returns).length) return
  const reported = fields.map(({ name, dataTypeID }) => `${name} ${dataTypeID}`).join(', ')
  throw new DatabaseError('DATABASE_FAILED', 'A statement does not return the columns that it declares', {
    cause: new Error(`Declared: ${wrong.join(', ')}. Returned: ${reported}. ${text}`),
  })
}

function isOfType(id: number, type: string): boolean {
  return type in columnTypes ? columnTypes[type as keyof typeof columnTypes].id === id : id > lastBuiltInType
}

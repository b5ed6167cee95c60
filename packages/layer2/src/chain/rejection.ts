import type { Failures, Json, PredicateFailure } from '@ratatosk/ledger'
import type { Rejection } from '@ratatosk/store'

/** The failed predicates of a dead letter. Details too long to keep still begin with predicates. */
export function failuresOf({ code, message, details }: Rejection): Failures {
  const listed = Array.isArray(details) ? details.flatMap(readFailure) : []
  if (listed.length > 0) return listed
  const first: PredicateFailure = { predicate: code, message, details: {} }
  const beginning = isJsonObject(details) ? details.beginning : undefined
  if (typeof beginning !== 'string') return [first]
  const others = Array.from(beginning.matchAll(/"predicate":"(\w+)"/g), ([, name = '']) => name)
  return [
    first,
    ...others
      .filter((name) => name !== code)
      .map((predicate) => ({ predicate, message: 'See the dead letter of this transaction', details: {} })),
  ]
}

function readFailure(json: Json): PredicateFailure[] {
  if (!isJsonObject(json) || typeof json.predicate !== 'string') return []
  const details = isJsonObject(json.details) ? json.details : {}
  return [{ predicate: json.predicate, message: String(json.message ?? ''), details }]
}

function isJsonObject(json: Json | undefined): json is { readonly [key: string]: Json } {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}

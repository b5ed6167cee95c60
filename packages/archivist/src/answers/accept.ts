import { cbor } from './cbor.js'
import { json } from './json.js'
import type { AnswerFormat } from './part.js'

/**
 * CBOR where `Accept` names it and likes JSON no better, JSON otherwise: a header that fits neither is answered in JSON too.
 * A wildcard speaks for JSON, but what names a type comes before it (RFC 9110, section 12.5.1).
 */
export function formatFor(accept: string | undefined): AnswerFormat {
  const quality = new Map<string, number>()
  for (const range of accept?.split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((text) => text.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    quality.set(type, weight === undefined ? 1 : Number(weight.slice(2)) || 0)
  }
  const asked = quality.get('application/cbor') ?? 0
  const other = quality.get('application/json') ?? 0
  const any = Math.max(quality.get('application/*') ?? 0, quality.get('*/*') ?? 0)
  return asked > other && asked >= any ? cbor : json
}

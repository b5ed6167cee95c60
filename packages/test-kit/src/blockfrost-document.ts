import { createRequire } from 'node:module'
import type { Ajv, ValidateFunction } from 'ajv'
import { pathTemplates, type SentAnswer } from './documented-answers.js'

/*
 * The OpenAPI document of Blockfrost. It and its validator are loaded when the first answer is judged, as
 * most processes of tests send none.
 */

const load = createRequire(import.meta.url)
let opened: ReturnType<typeof open> | undefined

function open() {
  const { Ajv } = load('ajv') as typeof import('ajv')
  const { getSchemaForEndpoint } = load('@blockfrost/openapi') as typeof import('@blockfrost/openapi')
  const templates = Object.keys(load('@blockfrost/openapi/json-schema.json') as object)
  const ajv: Ajv = new Ajv({ strict: false, allErrors: true, verbose: true, logger: false })
  const validators = new Map<string, ValidateFunction>()
  return {
    ajv,
    templateOf: pathTemplates(templates),
    validatorOf(template: string) {
      const known = validators.get(template) ?? ajv.compile(getSchemaForEndpoint(template).response[200])
      validators.set(template, known)
      return known
    },
  }
}

/** The parts of an answer that the document of Blockfrost does not allow. @param template the path in it */
export function faultsOf(template: string, json: unknown): string | undefined {
  opened ??= open()
  const validate = opened.validatorOf(template)
  validate(json)
  const faults = validate.errors?.filter(
    ({ data, parentSchema, instancePath }) =>
      // The document forgets null in the lists of values that may be null.
      !(data === null && parentSchema?.nullable) &&
      // On a devnet, slots need not be whole seconds: see the README of chain-apis.
      !(typeof data === 'number' && data < 1 && instancePath.endsWith('/slot_length')),
  )
  return faults?.length ? opened.ajv.errorsText(faults) : undefined
}

/** Why a server's answer is none of Blockfrost's; undefined also for other paths than its own. */
export function blockfrostFault({ method, url, status, contentType, body }: SentAnswer): string | undefined {
  const [, path] = /\/blockfrost\/api\/v0(\/[^?]*)/.exec(url) ?? []
  if (path === undefined || method !== 'GET' || status !== 200 || body === undefined) return undefined
  if (!contentType.startsWith('application/json')) return undefined
  opened ??= open()
  const template = opened.templateOf(path)
  if (template === undefined) return undefined
  const text = body.toString()
  const faults = isJson(text) ? faultsOf(template, JSON.parse(text)) : 'no JSON'
  return faults && `GET ${path}: Blockfrost does not answer so: ${faults}: ${text.slice(0, 200)}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

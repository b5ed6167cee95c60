import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Ajv, ValidateFunction } from 'ajv'

/** The checked-in OpenAPI document of a node that serves everything. */
export const openApiFile = new URL('../../../docs/openapi.json', import.meta.url)

export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'query' | 'path' | 'header'
    readonly required?: boolean
    readonly schema: { readonly type?: string; readonly pattern?: string; readonly enum?: readonly string[] }
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> }
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>
  readonly security?: readonly object[]
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

/** An answer of a server, as it was sent. */
interface SentAnswer {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly contentType: string
  /** Absent if it was not kept: only status and type are judged then. */
  readonly body?: Buffer
}

const uniform404 = '{"error":"Not Found","code":"DISABLED"}'
const load = createRequire(import.meta.url)

/** Finds the path of a document that a request has: the path itself, or one with parameters. */
function pathTemplates(templates: readonly string[]): (path: string) => string | undefined {
  const patterns = templates.map((template) => ({
    template,
    pattern: new RegExp(`^${template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }))
  return (path) =>
    templates.find((each) => each === path) ?? patterns.find(({ pattern }) => pattern.test(path))?.template
}

/**
 * A judge of answers: undefined, or what the document does not say. Paths that are not in the document are
 * not judged.
 */
export function documentJudge(
  document: OpenApiDocument = JSON.parse(readFileSync(openApiFile, 'utf8')),
): (answer: SentAnswer) => string | undefined {
  // Loaded when the first answer is judged: most processes that preload the hook send none.
  const { Ajv2020 } = load('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const { default: addFormats } = load('ajv-formats') as typeof import('ajv-formats')
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'openapi', ...document })
  const validators = new Map<string, ValidateFunction>()
  const templateOf = pathTemplates(Object.keys(document.paths))

  function validatorOf(path: string, method: string, status: number, type: string): ValidateFunction {
    const pointer = ['paths', path, method, 'responses', String(status), 'content', type, 'schema']
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/')
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `openapi#/${pointer}` })
    validators.set(pointer, known)
    return known
  }

  return ({ method, url, status, contentType, body }) => {
    const [path = ''] = url.split('?')
    // An archivist serves at the root what other nodes serve under /archivist.
    const template = templateOf(path) ?? templateOf(`/archivist${path}`)
    const operation = document.paths[template ?? '']?.[method.toLowerCase()]
    // A 404 of a route that role or settings leave out, by a node or by Fastify, which says `Route …`.
    if (status === 404 && (body?.toString() === uniform404 || body?.includes('"message":"Route ')))
      return undefined
    // An archivist has a probe that other nodes do not have; its own document names it.
    if (path === '/health/ready' && body?.includes('"blocks"')) return undefined
    // HTTP 1.1 without a host is refused before a route is chosen, too.
    if (status === 400 && body?.includes('Missing Host header')) return undefined
    if (template === undefined || operation === undefined) return undefined
    const name = `${method} ${url.slice(0, 100)} ${status}`
    const response = operation.responses[String(status)]
    if (response === undefined) return `${name}: the status is not documented`
    const [type = ''] = contentType.split(';')
    if (body?.length === 0) return response.content && status !== 304 ? `${name}: no body` : undefined
    if (response.content?.[type] === undefined) return `${name}: the type ${type} is not documented`
    if (type !== 'application/json' || body === undefined) return undefined
    const validate = validatorOf(template, method.toLowerCase(), status, type)
    if (validate(JSON.parse(body.toString()))) return undefined
    return `${name}: ${ajv.errorsText(validate.errors)}: ${body.toString().slice(0, 200)}`
  }
}

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

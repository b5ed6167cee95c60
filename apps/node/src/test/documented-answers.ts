import { readFileSync } from 'node:fs'
import { ServerResponse } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

/** The checked-in OpenAPI document of a node that serves everything. */
export const openApiFile = new URL('../../../../docs/openapi.json', import.meta.url)

export interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: 'query' | 'path'
    readonly required?: boolean
    readonly schema: { readonly type?: string; readonly pattern?: string }
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
export interface SentAnswer {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly contentType: string
  readonly body: Buffer
}

const uniform404 = '{"error":"Not Found","code":"DISABLED"}'

/** A judge of answers: undefined, or what the document does not say. */
export function documentJudge(
  document: OpenApiDocument = JSON.parse(readFileSync(openApiFile, 'utf8')),
): (answer: SentAnswer) => string | undefined {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  formats.default(ajv)
  ajv.addSchema({ $id: 'openapi', ...document })
  const validators = new Map<string, ValidateFunction>()
  const templates = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    operations,
    pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{[^}]+\}/g, '[^/]+')}$`),
  }))

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
    const template =
      templates.find((each) => each.path === path) ?? templates.find(({ pattern }) => pattern.test(path))
    const operation = template?.operations[method.toLowerCase()]
    // What is not served, which depends on role and settings, and answers before a route is chosen.
    if (status === 404 && body.toString() === uniform404) return undefined
    // HTTP 1.1 without a host is refused before a route is chosen, too.
    if (status === 400 && body.includes('Missing Host header')) return undefined
    if (template === undefined || operation === undefined) return undefined
    const name = `${method} ${url.slice(0, 100)} ${status}`
    const response = operation.responses[String(status)]
    if (response === undefined) return `${name}: the status is not documented`
    const [type = ''] = contentType.split(';')
    if (body.length === 0) return response.content && status !== 304 ? `${name}: no body` : undefined
    if (response.content?.[type] === undefined) return `${name}: the type ${type} is not documented`
    if (type !== 'application/json') return undefined
    const validate = validatorOf(template.path, method.toLowerCase(), status, type)
    if (validate(JSON.parse(body.toString()))) return undefined
    return `${name}: ${ajv.errorsText(validate.errors)}: ${body.toString().slice(0, 200)}`
  }
}

/** How many bytes of a body are kept; longer ones are not judged. */
const mostKept = 1024 * 1024
let recorded: SentAnswer[] | undefined
let judge: ReturnType<typeof documentJudge> | undefined

/**
 * Compares the answers that servers of this process have sent since the last call with the checked-in document.
 *
 * @throws Error that names the first that the document does not describe
 */
export function expectDocumented(): void {
  judge ??= documentJudge()
  for (const answer of recorded?.splice(0) ?? []) {
    const fault = judge(answer)
    if (fault !== undefined) throw new Error(`docs/openapi.json does not describe an answer: ${fault}`)
  }
}

/** Records the answers of every server in this process from now on, for {@link expectDocumented}. */
export function recordAnswers(): void {
  if (recorded !== undefined) return
  const answers: SentAnswer[] = []
  recorded = answers
  const chunks = new WeakMap<ServerResponse, Buffer[]>()
  const types = new WeakMap<ServerResponse, string>()
  const { write, end, writeHead } = ServerResponse.prototype

  function keep(response: ServerResponse, chunk: unknown): void {
    const kept = chunks.get(response) ?? []
    if (!chunks.has(response)) {
      chunks.set(response, kept)
      response.once('finish', () => {
        const { method = '', url = '' } = response.req
        const body = Buffer.concat(kept)
        if (method === 'HEAD' || body.length > mostKept) return
        const contentType = types.get(response) ?? ''
        answers.push({ method, url, status: response.statusCode, contentType, body })
      })
    }
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) kept.push(Buffer.from(chunk))
  }

  // Headers that are given here are not among those that `getHeader` reads.
  ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: unknown[]) {
    const own = given.find((each) => typeof each === 'object' && each !== null && 'content-type' in each)
    types.set(
      this,
      String((own as { 'content-type'?: string })?.['content-type'] ?? this.getHeader('content-type') ?? ''),
    )
    return Reflect.apply(writeHead, this, given)
  } as typeof writeHead
  ServerResponse.prototype.write = function (this: ServerResponse, ...given: unknown[]) {
    keep(this, given[0])
    return Reflect.apply(write, this, given)
  } as typeof write
  ServerResponse.prototype.end = function (this: ServerResponse, ...given: unknown[]) {
    keep(this, given[0])
    return Reflect.apply(end, this, given)
  } as typeof end
}

// Writes packages/client/src/api.ts, the types and operations of the client, and its answers/schemas.ts, the
// schemas of the answers, from docs/openapi.json.
// `--check` only compares.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'
import { writeSource } from './sections.mjs'

const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'))

/** Schemas whose name means something else in TypeScript. */
const renamed = { Error: 'ErrorBody' }
const nameOf = (name) => renamed[name] ?? name
const capital = (name) => name[0].toUpperCase() + name.slice(1)

function comment(text) {
  return text ? `/** ${text.replaceAll('*/', '*\\/')} */\n` : ''
}

/** The TypeScript type of a schema. Throws for a keyword that would be ignored. */
function typeOf(schema) {
  const { $ref, anyOf, enum: values, not, type } = schema
  if ($ref) return nameOf($ref.replace('#/components/schemas/', ''))
  if (anyOf) return anyOf.map(typeOf).join(' | ')
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (not) return 'never'
  switch (type) {
    case undefined:
      return 'unknown'
    case 'string':
    case 'boolean':
      return type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `readonly (${typeOf(schema.items)})[]`
    case 'object':
      return objectOf(schema)
    default:
      throw new Error(`No type is known for ${JSON.stringify(schema)}`)
  }
}

function fieldsOf({ properties = {}, required = [], additionalProperties }) {
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description)}readonly ${name}${required.includes(name) ? '' : '?'}: ` +
      `${typeOf(schema)}`,
  )
  return additionalProperties ? [...fields, 'readonly [name: string]: unknown'] : fields
}

const objectOf = (schema) => `{\n${fieldsOf(schema).join('\n')}\n}`

const components = Object.entries(document.components.schemas)

/** An interface extends one whose five or more fields it repeats: fewer may be alike by chance. */
function interfaceOf(name, schema) {
  const all = fieldsOf(schema)
  const bases = components.map(([base, each]) => ({ base, fields: fieldsOf(each) }))
  const { base, fields: known } = bases.find(({ fields }) => {
    const isShorter = fields.length >= 5 && fields.length < all.length
    return isShorter && fields.every((each) => all.includes(each))
  }) ?? { fields: [] }
  const own = all.filter((field) => !known.includes(field))
  return `export interface ${nameOf(name)}${base ? ` extends ${nameOf(base)}` : ''} {\n${own.join('\n')}\n}`
}

const schemas = components.map(([name, schema]) => {
  const isInterface = schema.type === 'object'
  const source = isInterface ? interfaceOf(name, schema) : `export type ${nameOf(name)} = ${typeOf(schema)}`
  return comment(schema.description) + source
})

/** The fields that every answer of a schema has. */
function commonFields({ $ref, anyOf, required = [] }) {
  if ($ref) return commonFields(document.components.schemas[$ref.replace('#/components/schemas/', '')])
  if (!anyOf) return required
  const [first, ...others] = anyOf.map(commonFields)
  return first.filter((name) => others.every((each) => each.includes(name)))
}

/** The checks of a schema, without descriptions and unchecked parts. */
function checked(schema) {
  if (Array.isArray(schema)) return schema.map(checked)
  const {
    $ref,
    anyOf,
    enum: values,
    not,
    type,
    pattern,
    minimum,
    maximum,
    items,
    properties,
    required,
  } = schema
  return {
    ...($ref && { $ref: $ref.replace('#/components/schemas/', '') }),
    ...(anyOf && { anyOf: anyOf.map(checked) }),
    ...(values && { enum: values }),
    ...(not && { not: {} }),
    ...(type && { type }),
    ...(pattern && { pattern }),
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(items && { items: checked(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, checked(property)]),
      ),
    }),
    ...(required && { required: requiredOf(properties, required) }),
  }
}

/** In the order of the properties, so that equal schemas have equal JSON. */
function requiredOf(properties, required) {
  const names = Object.keys(properties ?? {}).filter((name) => required.includes(name))
  if (names.length !== required.length) throw new Error(`Not all are properties: ${required}`)
  return names
}

const answers = {}
const parameters = []
const endpoints = []
const table = []
for (const [path, operations] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(operations)) readOperation(path, method, operation)
}

function readOperation(path, method, operation) {
  const { operationId: id, summary, description, security, requestBody, responses } = operation
  // A stream resumes with a header that the client sets.
  const asked = (operation.parameters ?? []).filter((parameter) => parameter.in !== 'header')
  const body = requestBody?.content
  if (body && asked.length > 0) throw new Error(`${id} has parameters and a body: extend the generator`)
  const argument = argumentOf(id, asked, body)
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))[1].content
  const isStream = answer?.['text/event-stream'] !== undefined
  const result = isStream ? undefined : answer ? typeOf(answer['application/json'].schema) : 'void'
  if (result) {
    const text = `\`${method.toUpperCase()} ${path}\`: ${summary}. ${description ?? ''}`.trim()
    endpoints.push(`${comment(text)}${id}(${argument}options?: NodeRequestOptions): Promise<${result}>`)
  }
  if (result && answer)
    answers[`${method.toUpperCase()} ${path}`] = checked(answer['application/json'].schema)
  const [scheme] = security?.flatMap(Object.keys) ?? []
  // Where a 504 is documented, the request starts an operation, also with GET: it must not be sent twice.
  const isRead = method === 'get' && responses[504] === undefined
  const members = [
    `method: '${method.toUpperCase()}'`,
    `path: '${path}'`,
    ...(isRead ? ['isRead: true'] : []),
    ...(argument ? ['takesInput: true'] : []),
    ...(body ? [`body: '${Object.keys(body)[0]}'`] : []),
    ...(scheme ? [`token: '${scheme}'`] : []),
    ...(result && answer
      ? [`answer: ${JSON.stringify(commonFields(answer['application/json'].schema))}`]
      : []),
  ]
  table.push(`${id}: { ${members.join(', ')} }`)
}

function argumentOf(id, asked, body) {
  if (body?.['text/plain']) return 'body: string, '
  const schema = body
    ? body['application/json'].schema
    : {
        properties: Object.fromEntries(
          asked.map(({ name, description, schema }) => [name, { ...schema, description }]),
        ),
        required: asked.filter(({ required }) => required).map(({ name }) => name),
      }
  const { properties, required = [] } = schema
  if (Object.keys(properties).length === 0) return ''
  const name = `${capital(id)}Parameters`
  parameters.push(`/** What \`${id}\` asks for. */\nexport interface ${name} ${objectOf(schema)}`)
  return `parameters${required.length > 0 ? '' : '?'}: ${name}, `
}

const source = `// Written by scripts/write-client-types.mjs from docs/openapi.json: do not edit.
import type { NodeRequestOptions } from './options.js'

${[...schemas, ...parameters].join('\n\n')}

/** The operations that answer with JSON. */
export interface Endpoints {
${endpoints.join('\n\n')}
}

/** An operation of the document. */
export interface Operation {
  readonly method: string
  readonly path: string
  /** It changes nothing, so that it may be sent again. */
  readonly isRead?: boolean
  /** It has parameters or a body. */
  readonly takesInput?: boolean
  /** Media type of the body. */
  readonly body?: string
  /** The option with its bearer token. */
  readonly token?: ${Object.keys(document.components.securitySchemes)
    .map((scheme) => `'${scheme}'`)
    .join(' | ')}
  /** Fields that its answer has. */
  readonly answer?: readonly string[]
}

/** Every operation, by its id. */
export const operations = {
${table.map((line) => `  ${line},`).join('\n')}
} as const satisfies Readonly<Record<string, Operation>>
`

/** The schemas that the answers name. */
const named = {}
function collect(value) {
  if (typeof value !== 'object' || value === null) return
  if (typeof value.$ref === 'string' && !(value.$ref in named)) {
    named[value.$ref] = checked(document.components.schemas[value.$ref])
    collect(named[value.$ref])
  }
  for (const each of Object.values(value)) collect(each)
}
collect(answers)

/** How often each schema occurs, by its JSON. The content of one that occurs again is counted once. */
const counts = new Map()
function count(schema) {
  const key = JSON.stringify(schema)
  const before = counts.get(key) ?? 0
  counts.set(key, before + 1)
  const { anyOf = [], items, properties = {} } = schema
  if (before === 0)
    for (const each of [...anyOf, ...(items ? [items] : []), ...Object.values(properties)]) count(each)
}
for (const schema of Object.values({ ...answers, ...named })) count(schema)

/** Names of schemas that occur more than once, by their JSON, and their declarations. */
const names = new Map()
const declarations = []

/** The source of a schema: a name, if it occurs more than once and is longer than a name. */
function sourceOf(schema) {
  const key = JSON.stringify(schema)
  if (counts.get(key) < 2 || schema.$ref || key === '{}') return bodyOf(schema)
  if (!names.has(key)) {
    const body = bodyOf(schema)
    const { type = 'other' } = schema
    const name = `${type}${[...names.values()].filter((each) => each.startsWith(type)).length + 1}`
    names.set(key, name)
    declarations.push(`const ${name}: Schema = ${body}`)
  }
  return names.get(key)
}

function bodyOf({ anyOf, items, properties, required = [], ...rest }) {
  if (rest.type === 'object') {
    const optional = Object.keys(properties ?? {}).filter((name) => !required.includes(name))
    const more = optional.length > 0 ? `, ${JSON.stringify(optional)}` : ''
    return `object(${recordOf(properties ?? {})}${more})`
  }
  if (rest.type === 'array') return `list(${sourceOf(items ?? {})})`
  return anyOf ? `{ anyOf: [${anyOf.map(sourceOf)}] }` : JSON.stringify(rest)
}

function recordOf(entries) {
  const fields = Object.entries(entries).map(([name, each]) => `${JSON.stringify(name)}: ${sourceOf(each)}`)
  return `{ ${fields} }`
}

const [answersSource, namedSource] = [recordOf(answers), recordOf(named)]
const schemaSource = `// Written by scripts/write-client-types.mjs from docs/openapi.json: do not edit.
import { list, object, type Schema } from './schema.js'

${declarations.join('\n')}

/** By method and path. */
export const answers: Readonly<Record<string, Schema>> = ${answersSource}

export const named: Readonly<Record<string, Schema>> = ${namedSource}
`

const checking = process.argv.includes('--check')
const written = [
  writeSource('packages/client/src/api.ts', source, checking),
  writeSource('packages/client/src/answers/schemas.ts', schemaSource, checking),
]
if (written.includes(false)) process.exitCode = 1

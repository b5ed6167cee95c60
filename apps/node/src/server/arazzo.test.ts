import { readFileSync } from 'node:fs'
import { type OpenApiDocument, type Operation, openApiFile } from '@ratatosk/test-kit/documented-answers'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

interface Step {
  readonly stepId: string
  readonly operationId: string
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly contentType: string; readonly payload: unknown }
  readonly successCriteria: readonly { readonly condition: string }[]
  readonly onFailure?: readonly (Action | Reference)[]
  readonly outputs?: Readonly<Record<string, string>>
}
interface Parameter {
  readonly name: string
  readonly in: string
  readonly value: unknown
}
interface Action {
  readonly name: string
  readonly stepId?: string
}
interface Reference {
  readonly reference: string
}
interface Workflow {
  readonly workflowId: string
  readonly inputs: object
  readonly steps: readonly Step[]
  readonly outputs?: object
}
interface Arazzo {
  readonly sourceDescriptions: readonly { readonly url: string }[]
  readonly workflows: readonly Workflow[]
  readonly components: object
}
interface Schema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

const text = readFileSync(new URL('arazzo.yaml', openApiFile), 'utf8')
const document: OpenApiDocument = JSON.parse(readFileSync(openApiFile, 'utf8'))
const flows: Arazzo = parse(text)

/** The references of a flow that the OpenAPI document, or the flow itself, does not have. */
function faultsOf(arazzo: Arazzo, { workflowId, inputs, steps, outputs }: Workflow): string[] {
  const faults: string[] = []
  const operations = new Map(
    Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((operation): [string, Operation] => [operation.operationId, operation]),
    ),
  )
  const component = (pointer: string) => at(arazzo, ['components', ...pointer.split(/[./]/)])
  const resolved = <T extends object>(item: T | Reference): T =>
    'reference' in item ? (component(item.reference.replace('$components.', '')) as T) : item
  const inputSchema = '$ref' in inputs ? at(arazzo, String(inputs.$ref).slice(2).split('/')) : inputs
  const known = { inputs: Object.keys((inputSchema as Schema | undefined)?.properties ?? {}) }
  const used = new Set<string>()
  const outputsOf = new Map<string, readonly string[]>()

  function checkExpressions(where: string, item: unknown, operation?: Operation, statuses = ['200']): void {
    for (const expression of textsOf(item)) {
      for (const [, name = ''] of expression.matchAll(/\$inputs\.(\w+)/g)) {
        used.add(name)
        if (!known.inputs.includes(name)) faults.push(`${where}: there is no input ${name}`)
      }
      for (const [, step = '', name = ''] of expression.matchAll(/\$steps\.(\w+)\.outputs\.(\w+)/g)) {
        if (!outputsOf.get(step)?.includes(name)) faults.push(`${where}: no earlier step has ${step}.${name}`)
      }
      for (const [, pointer = ''] of expression.matchAll(/\$response\.body#\/([\w/]+)/g)) {
        const schemas = statuses.map((status) => schemaOf(operation, status))
        if (!schemas.some((schema) => has(schema, pointer.split('/')))) {
          faults.push(`${where}: ${operation?.operationId} does not answer /${pointer}`)
        }
      }
    }
  }

  for (const step of steps) {
    const where = `${workflowId}.${step.stepId}`
    const operation = operations.get(step.operationId)
    if (outputsOf.has(step.stepId)) faults.push(`${where}: the name is taken`)
    if (operation === undefined) {
      faults.push(`${where}: there is no operation ${step.operationId}`)
      continue
    }
    const parameters = (step.parameters ?? []).map(resolved)
    for (const parameter of parameters) {
      if (parameter?.name === 'Authorization' && operation.security !== undefined) continue
      const isKnown = operation.parameters?.some(
        (one) => one.name === parameter?.name && one.in === parameter.in,
      )
      if (!isKnown) faults.push(`${where}: there is no parameter ${parameter?.name} in ${parameter?.in}`)
    }
    for (const { name, required } of operation.parameters ?? []) {
      if (required && !parameters.some((one) => one?.name === name))
        faults.push(`${where}: ${name} is required`)
    }
    const type = step.requestBody?.contentType
    if (type !== Object.keys(operation.requestBody?.content ?? {})[0])
      faults.push(`${where}: a body of ${type}`)
    checkExpressions(where, [parameters, step.requestBody?.payload])

    const status = /\$statusCode == (\d+)/.exec(step.successCriteria[0]?.condition ?? '')?.[1] ?? ''
    if (operation.responses[status] === undefined) faults.push(`${where}: ${status} is not documented`)
    checkExpressions(where, [step.successCriteria, step.outputs], operation, [status])
    const actions = (step.onFailure ?? []).map(resolved)
    checkExpressions(where, actions, operation)
    for (const action of actions) {
      if (action === undefined) faults.push(`${where}: an action is missing`)
      else if (action.stepId !== undefined && !outputsOf.has(action.stepId)) {
        faults.push(`${where}: ${action.name} leads to no earlier step`)
      }
    }
    outputsOf.set(step.stepId, Object.keys(step.outputs ?? {}))
  }
  checkExpressions(workflowId, outputs)
  for (const input of known.inputs) if (!used.has(input)) faults.push(`${workflowId}: ${input} is not used`)
  return faults
}

function textsOf(item: unknown): string[] {
  if (typeof item === 'string') return [item]
  return typeof item === 'object' && item !== null ? Object.values(item).flatMap(textsOf) : []
}

function at(item: unknown, path: readonly string[]): object | undefined {
  return path.reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], item) as object
}

function schemaOf(operation: Operation | undefined, status: string): Schema | undefined {
  const path = [status, 'content', 'application/json', 'schema']
  return at(operation?.responses, path)
}

function has(schema: Schema | undefined, [key, ...rest]: readonly string[]): boolean {
  if (schema?.$ref !== undefined)
    return has(at(document, schema.$ref.slice(2).split('/')), [key ?? '', ...rest])
  if (schema?.anyOf?.some((each) => has(each, [key ?? '', ...rest]))) return true
  const child = /^\d+$/.test(key ?? '') ? schema?.items : schema?.properties?.[key ?? '']
  return child !== undefined && (rest.length === 0 || has(child, rest))
}

describe('docs/arazzo.yaml', () => {
  test('reads docs/openapi.json', () => {
    expect(flows.sourceDescriptions.map(({ url }) => url)).toEqual(['./openapi.json'])
    const names = flows.workflows.map(({ workflowId }) => workflowId)
    expect(new Set(names).size).toBe(names.length)
  })

  test.each(flows.workflows.map((flow): [string, Workflow] => [flow.workflowId, flow]))(
    '%s uses operations, fields, inputs and steps that exist',
    (_, flow) => {
      expect(faultsOf(flows, flow)).toEqual([])
    },
  )

  test.each([
    [
      'operationId: getSubmissionStatus',
      'operationId: getSubmissionState',
      'no operation getSubmissionState',
    ],
    ['#/rejection/code', '#/rejection/reasons', 'does not answer /rejection/reasons'],
    ['$inputs.spentOutref', '$inputs.spent', 'no input spent'],
    ['$steps.claim.outputs.txHash', '$steps.claim.outputs.hash', 'has claim.hash'],
    ['name: header_hash', 'name: headerHash', 'no parameter headerHash in query'],
    ['$components.failureActions.busy', '$components.failureActions.occupied', 'an action is missing'],
    ['$statusCode == 401', '$statusCode == 402', '402 is not documented'],
  ])('a flow with another %s has a fault', (right, wrong, fault) => {
    const broken: Arazzo = parse(text.replaceAll(right, wrong))
    const faults = broken.workflows.flatMap((flow) => faultsOf(broken, flow))
    expect(faults.join('\n')).toContain(fault)
  })
})

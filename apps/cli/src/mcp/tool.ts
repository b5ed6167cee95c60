import type { Client } from '@ratatosk/client'
import { type Static, type TObject, TypeGuard } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { CommandError } from '../frame/errors.js'

export interface ToolContext {
  readonly client: Client
  /** Base URL of the control API of a devnet. */
  readonly devnetUrl: string | undefined
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: TObject
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean }
  /** @throws CommandError, or a ClientError */
  run(input: unknown, context: ToolContext): Promise<Readonly<Record<string, unknown>>>
}

/** Defines a tool whose input is checked against its schema. */
export function tool<T extends TObject>(
  notes: Pick<Tool, 'name' | 'description' | 'annotations'>,
  inputSchema: T,
  run: (input: Static<T>, context: ToolContext) => Promise<Readonly<Record<string, unknown>>>,
): Tool {
  return {
    ...notes,
    inputSchema,
    async run(input = {}, context) {
      if (Value.Check(inputSchema, input)) return run(input, context)
      refuseUnknown(inputSchema, input)
      const fault = Value.Errors(inputSchema, input).First()
      const where = fault === undefined || fault.path === '' ? 'The input' : fault.path.slice(1)
      throw new CommandError('CLI_TOOL_INPUT', `${where}: ${fault === undefined ? '' : reasonOf(fault)}`)
    },
  }
}

/** @throws CommandError */
function refuseUnknown({ properties }: TObject, input: unknown): void {
  const names = Object.keys(properties)
  const unknown = Object.keys(Object(input)).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const others = names.length === 0 ? 'there are none' : `the fields are ${names.join(', ')}`
  throw new CommandError('CLI_TOOL_INPUT', `There is no field ${unknown}: ${others}`)
}

/** The library quotes a pattern, and of a union it only says that none of its kinds is there. */
function reasonOf({ type, message, schema }: ValueError): string {
  if (type === ValueErrorType.StringPattern) return `Expected ${schema.description}`
  if (!TypeGuard.IsUnion(schema)) return message
  const values = schema.anyOf.flatMap((each) => (TypeGuard.IsLiteral(each) ? [each.const] : []))
  return `Expected ${values.length > 0 ? `one of ${values.join(', ')}` : schema.description}`
}

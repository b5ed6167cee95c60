import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { ClientError, RejectedError } from '@ratatosk/client'
import { CommandError, UsageError } from '../frame/errors.js'
import { remedyOf } from '../frame/node-connection.js'
import { visibleJson } from '../frame/text.js'
import { cliVersion } from '../version.js'
import { type ToolContext, tools } from './tools.js'

/** A server of the Model Context Protocol with tools for one node. The caller connects it to a transport. */
export function mcpServer(context: ToolContext): Server {
  const server = new Server({ name: 'ratatosk', version: cliVersion }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ run: _run, ...described }) => described),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const called = tools.find(({ name }) => name === params.name)
    if (called === undefined)
      // An `McpError` has its code in the message, as it is thrown by a client.
      throw Object.assign(new Error(`There is no tool ${params.name}: tools/list lists them`), {
        code: ErrorCode.InvalidParams,
      })
    try {
      return resultOf(await called.run(params.arguments, context))
    } catch (error) {
      if (!isExpected(error)) server.onerror?.(error instanceof Error ? error : new Error(String(error)))
      return failureOf(error)
    }
  })
  return server
}

function resultOf(value: Readonly<Record<string, unknown>>): CallToolResult {
  // Clients of older versions of the protocol only read the text.
  return { structuredContent: value, content: [{ type: 'text', text: visibleJson(value, 0) }] }
}

function failed(code: string, message: string, more: object = {}, value: object = {}): CallToolResult {
  return { ...resultOf({ error: { code, message, ...more }, ...value }), isError: true }
}

const isExpected = (error: unknown): error is ClientError | CommandError | UsageError =>
  [ClientError, CommandError, UsageError].some((kind) => error instanceof kind)

/** The result of a failure: a model's mistake, or a fault of this program. */
function failureOf(error: unknown): CallToolResult {
  if (error instanceof RejectedError) {
    return failed(error.code, error.message, { failures: error.failures })
  }
  if (error instanceof CommandError) return failed(error.code, error.message, {}, error.value)
  if (isExpected(error)) return failed(error.code, error.message + remedyOf(error))
  return failed('CLI_FAULT', 'The tool failed unexpectedly. Please report it.')
}

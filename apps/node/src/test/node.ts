import type { Test } from 'tap'
import { type NodeOptions, type RunningNode, readSettings, startNode } from '../index.js'

/** Starts a node for a test, on a free port and without a log, and closes it when the test ends. */
export async function runNode(
  t: Test,
  environment: Readonly<Record<string, string>>,
  options: NodeOptions = {},
): Promise<RunningNode> {
  const settings = readSettings({ PORT: '0', LOG_LEVEL: 'silent', LOG_FORMAT: 'json', ...environment })
  const node = await startNode(settings, options)
  t.teardown(() => node.close())
  return node
}

// Compiled, never run: checks what the types accept and refuse.
import type { OperationResult } from '@ratatosk/ports'
import fastify from 'fastify'
import deadLettersPlugin, { type DeadLetters, type DeadLettersOptions } from '../dead-letters/index.js'
import operator, { type OperatorOptions } from '../index.js'

const server = fastify()
const operations = { run: async (): Promise<OperationResult> => ({ kind: 'nothing-to-commit' }) }
const blocks = { counts: async (limit: number) => [].slice(0, limit) }

server.register(operator, { operations })
server.register(operator, { operations, serve: ['commit'], prefix: '/l2', logLevel: 'warn' })
server.register(operator, { operations, blocks, globals: { snapshot: () => 1 }, operatorToken: 'secret' })
server.register(operator, { operations, allowedHosts: ['node.example'] })
server.register(operator, { operations, globals: { snapshot: async () => ({}) } })
server.register(operator, () => ({ operations }))

// A runner fits by its shape, whatever else it can do.
class Sequencer {
  readonly active = true
  async run(
    operation:
      | 'init'
      | 'commit'
      | 'merge'
      | 'reset'
      | 'repair'
      | 'remove'
      | 'register'
      | 'retire'
      | 'release',
  ): Promise<OperationResult> {
    return this.active ? { kind: 'busy', operation } : { kind: 'timed-out', message: 'No sequencer' }
  }
}
server.register(operator, { operations: new Sequencer() } satisfies OperatorOptions)

// @ts-expect-error operations are required
server.register(operator, { blocks })
// @ts-expect-error results are promised
server.register(operator, { operations: { run: () => ({ kind: 'reset' }) } })
// @ts-expect-error no such result
server.register(operator, { operations: { run: async () => ({ kind: 'done' }) } })
// @ts-expect-error a result with all its fields
server.register(operator, { operations: { run: async () => ({ kind: 'merged' }) } })
// @ts-expect-error repair belongs to the state queue
server.register(operator, { operations, serve: ['repair'] })
// @ts-expect-error hosts are a list
server.register(operator, { operations, allowedHosts: 'node.example' })
// @ts-expect-error a token is text
server.register(operator, { operations, operatorToken: 1 })
// @ts-expect-error no such option
server.register(operator, { operations, token: 'secret' })

declare const deadLetters: DeadLetters

server.register(deadLettersPlugin, { deadLetters })
server.register(deadLettersPlugin, {
  deadLetters,
  operatorToken: 'secret',
  allowedHosts: ['node.example'],
  prefix: '/l2',
})
server.register(deadLettersPlugin, () => ({ deadLetters }) satisfies DeadLettersOptions)

// @ts-expect-error dead letters are required
server.register(deadLettersPlugin, {})
// @ts-expect-error a removal is promised
server.register(deadLettersPlugin, { deadLetters: { ...deadLetters, drop: () => true } })
// @ts-expect-error no such option
server.register(deadLettersPlugin, { deadLetters, token: 'secret' })

// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import plugin, { type DeadLetters, type DeadLettersOptions } from '../index.js'

declare const deadLetters: DeadLetters
const server = fastify()

server.register(plugin, { deadLetters })
server.register(plugin, {
  deadLetters,
  operatorToken: 'secret',
  allowedHosts: ['node.example'],
  prefix: '/l2',
})
server.register(plugin, () => ({ deadLetters }) satisfies DeadLettersOptions)

// @ts-expect-error dead letters are required
server.register(plugin, {})
// @ts-expect-error a removal is promised
server.register(plugin, { deadLetters: { ...deadLetters, drop: () => true } })
// @ts-expect-error no such option
server.register(plugin, { deadLetters, token: 'secret' })

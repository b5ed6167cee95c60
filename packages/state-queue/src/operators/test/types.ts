// Compiled, never run: checks what the types accept and refuse.
import fastify from 'fastify'
import operators, { type OpenQuestions, type OperatorsAnswer, type OperatorsOptions } from '../index.js'

const server = fastify()
declare const view: OperatorsAnswer
declare const questions: OpenQuestions
const registry = { read: async (signal?: AbortSignal) => (signal?.aborted ? { ...view } : view) }
const verdicts = { list: async ({ limit }: { limit: number }) => ({ verdicts: [], hasMore: limit < 1 }) }

server.register(operators, { registry, questions, verdicts, prefix: '/l2', logLevel: 'warn' })
server.register(operators, () => ({ verdicts }) satisfies OperatorsOptions)

// @ts-expect-error answers are promised
server.register(operators, { registry: { read: () => view } })
// @ts-expect-error questions come in pieces
server.register(operators, { questions: { read: async () => [] } })
// @ts-expect-error a page says whether there is another
server.register(operators, { verdicts: { list: async () => ({ verdicts: [] }) } })
// @ts-expect-error key hashes are bytes
server.register(operators, { registry: { read: async () => ({ ...view, inTurn: 'ab' }) } })
// @ts-expect-error no such option
server.register(operators, { registry, token: 'secret' })

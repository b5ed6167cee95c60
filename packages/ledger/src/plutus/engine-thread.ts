import { parentPort, workerData } from 'node:worker_threads'
import type { Engine, EngineRequest } from './engines/engine.js'
import type { EngineName } from './types.js'

/** The program of an engine's thread: one request at a time, until it is told to end or the engine breaks. */

export interface ThreadData {
  readonly engine: EngineName
  readonly memoryLimitMb: number
}

async function load({ engine, memoryLimitMb }: ThreadData): Promise<Engine> {
  if (engine === 'cek') {
    const { createCekEngine } = await import('./cek/engine.js')
    return createCekEngine()
  }
  if (engine === 'scalus') {
    const { createScalusEngine } = await import('./engines/scalus.js')
    return createScalusEngine(memoryLimitMb)
  }
  const { createAikenEngine } = await import('./engines/aiken.js')
  return createAikenEngine(memoryLimitMb)
}

const port = parentPort
if (port === null) throw new Error('This program runs only as a worker thread')

const engine = await load(workerData as ThreadData)
port.on('message', (request: EngineRequest) => {
  // An engine that throws is broken: the error goes unhandled, which ends this thread.
  port.postMessage(engine(request))
})
port.postMessage('ready')

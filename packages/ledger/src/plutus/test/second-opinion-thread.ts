import { parentPort, workerData } from 'node:worker_threads'
import type { Engine, EngineRequest } from '../engine.js'

/** The program of a thread with a third-party engine, for comparison in tests. */

export type SecondOpinion = 'scalus' | 'aiken'

const memoryLimitMb = 256

async function load(name: SecondOpinion): Promise<Engine> {
  if (name === 'scalus') return (await import('./engines/scalus.js')).createScalusEngine(memoryLimitMb)
  return (await import('./engines/aiken.js')).createAikenEngine(memoryLimitMb)
}

const port = parentPort
if (port === null) throw new Error('This program runs only as a worker thread')

const engine = await load((workerData as { engine: SecondOpinion }).engine)
port.on('message', (request: EngineRequest) => {
  port.postMessage(engine(request))
})
port.postMessage('ready')

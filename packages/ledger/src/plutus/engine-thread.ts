import { parentPort } from 'node:worker_threads'
import { createCekEngine } from './cek/engine.js'
import type { EngineRequest } from './engine.js'

/** The program of an engine's thread: one request at a time, until it is told to end or the engine breaks. */

const port = parentPort
if (port === null) throw new Error('This program runs only as a worker thread')

const engine = createCekEngine()
port.on('message', (request: EngineRequest) => {
  // An engine that throws is broken: the error goes unhandled, which ends this thread.
  port.postMessage(engine(request))
})
port.postMessage('ready')

import { parentPort } from 'node:worker_threads'
import { createCekEngine } from './cek-engine.js'
import type { EngineRequest } from './engine.js'

/**
 * The program of a worker thread: runs the scripts of one transaction at a time, until it is terminated or
 * the engine throws.
 */

const port = parentPort
if (port === null) throw new Error('This program runs only as a worker thread')

const engine = createCekEngine()
port.on('message', (request: EngineRequest) => {
  // An engine that throws must not be reused: the unhandled error ends this thread.
  port.postMessage(engine(request))
})
port.postMessage('ready')

import { parentPort, workerData } from 'node:worker_threads'
import { useClient } from './client-program.js'

parentPort?.postMessage(await useClient(workerData))

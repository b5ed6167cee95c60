import { parentPort, workerData } from 'node:worker_threads'
import { RootsError, type RootsFault } from './errors.js'
import { atRest } from './exit-guard.js'
import type { PackedOutputs, Request, Response, ThreadData } from './messages.js'
import { type OutputTrie, openOutputTrie } from './output-trie.js'
import { unpack } from './packed-bytes.js'
import { createRebuild, type Rebuild } from './rebuild.js'
import type { UnspentOutput } from './types.js'

/** The program of the thread: it is asked one thing at a time, until it is told to close. */

const port = parentPort
if (port === null) throw new Error('This program runs only as a worker thread')

const { options, busy }: ThreadData = workerData
let rebuild: Rebuild | undefined

function say(response: Response): void {
  atRest(busy)
  port?.postMessage(response)
}

async function answer(trie: OutputTrie, request: Request) {
  switch (request.kind) {
    case 'root':
      return trie.root()
    case 'apply':
      return trie.apply(unpack(request.question))
    case 'revert':
      return trie.revert(request.question)
    case 'beginRebuild':
      rebuild = createRebuild(trie)
      return undefined
    case 'addToRebuild':
      return rebuild?.add(outputsOf(request.question))
    case 'endRebuild':
      return rebuild?.end()
    case 'abandonRebuild':
      return rebuild?.abandon()
    case 'close':
      await trie.close()
      return undefined
  }
}

function outputsOf({ transactionIds, indexes, outputs }: PackedOutputs): UnspentOutput[] {
  const ids = unpack(transactionIds)
  return unpack(outputs).map((output, place) => ({
    transactionId: ids[place] ?? new Uint8Array(),
    index: indexes[place] ?? 0,
    output,
  }))
}

function faultOf(error: unknown): RootsFault {
  if (!(error instanceof RootsError)) {
    return { code: 'ROOTS_FAILED', message: error instanceof Error ? error.message : String(error) }
  }
  const { code, message, reference, position } = error
  return {
    code,
    message,
    ...(reference === undefined ? {} : { reference }),
    ...(position === undefined ? {} : { position }),
  }
}

try {
  const trie = openOutputTrie(options)
  port.on('message', (request: Request) => {
    void answer(trie, request)
      .then(
        (answer) => say({ answer }),
        (error: unknown) => say({ fault: faultOf(error) }),
      )
      .finally(() => {
        if (request.kind === 'close') port.close()
      })
  })
  say({ answer: undefined })
} catch (error) {
  say({ fault: faultOf(error) })
}

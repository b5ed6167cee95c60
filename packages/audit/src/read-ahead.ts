import type { Sources } from './sources.js'
import type { Trace } from './trace.js'
import type { NamedHeader } from './types.js'

/** How much of an archive is read while a block is judged: no more is asked for beyond either. */
const most = { blocks: 8, bytes: 16 << 20 }

/** The header that an archive has at a height, and the body of the block that belongs there. */
interface ArchivedBlock {
  readonly header: Promise<NamedHeader | undefined>
  readonly body: Promise<Uint8Array | undefined>
}

/**
 * The blocks of a trace in an archive, in order. Header and body are asked for at once, and the next ones
 * while the caller judges; one body at a time is on its way, so that an archive fills no memory.
 */
export async function* readAhead(
  trace: Trace,
  from: number,
  { header, body }: Pick<Sources, 'header' | 'body'>,
  signal: AbortSignal,
): AsyncGenerator<ArchivedBlock, void> {
  const ahead: (ArchivedBlock & { readonly length: Promise<number> })[] = []
  const stop = new AbortController()
  // One for all questions: Node 20 keeps what hangs on a signal for as long as the signal lives.
  const until = AbortSignal.any([signal, stop.signal])
  let next = from
  let bytes = 0
  let isReading = false

  function fill(): void {
    const hash = trace.hashAt(next)
    if (isReading || hash === undefined || ahead.length >= most.blocks || bytes >= most.bytes) return
    isReading = true
    const block = { header: header(next++, until), body: body(hash, until) }
    const length = Promise.allSettled([block.body, block.header]).then(([read, named]) => {
      isReading = false
      const found = read.status === 'fulfilled' ? (read.value?.length ?? 0) : 0
      bytes += found
      // After a failure, nothing more is asked for.
      if (read.status === 'fulfilled' && named.status === 'fulfilled') fill()
      return found
    })
    ahead.push({ ...block, length })
  }

  try {
    for (;;) {
      if (ahead.length === 0) fill()
      const block = ahead[0]
      if (block === undefined) return
      const length = await block.length
      bytes -= length
      ahead.shift()
      fill()
      yield block
    }
  } finally {
    stop.abort()
  }
}

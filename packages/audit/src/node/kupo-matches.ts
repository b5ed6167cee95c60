/** The compared parts of an unspent output as Kupo lists it. */
export interface KupoMatch {
  /** Transaction id, `#`, index. */
  readonly key: string
  /** Bech32. */
  readonly address: string
}

/** Bytes of one match: an output of 16 KiB has no more assets. */
const mostBytes = 1 << 20

/** Time limits of a list, which may be long. */
export interface ListOptions {
  /** Milliseconds in which a node must send more of the list. @defaultValue 30000 */
  readonly stallMs?: number
  /** Milliseconds of waiting for the whole list. @defaultValue 10 times `stallMs` */
  readonly timeoutMs?: number
}

/** A node's outputs by Kupo's API, as they arrive. Throws an Error unless it answers with a whole list. */
export async function* unspentMatches(
  url: string,
  signal: AbortSignal,
  { stallMs = 30_000, timeoutMs = 10 * stallMs }: ListOptions,
): AsyncGenerator<KupoMatch, void> {
  const stop = new AbortController()
  let leftMs = timeoutMs
  /** Waits for a part of the answer. The reader's time with it does not count. */
  async function within<T>(part: () => Promise<T>): Promise<T> {
    const since = performance.now()
    const why =
      leftMs < stallMs ? `its list takes more than ${timeoutMs} ms` : `it sent nothing in ${stallMs} ms`
    const late = setTimeout(() => stop.abort(new Error(why)), Math.min(leftMs, stallMs))
    return part().finally(() => {
      clearTimeout(late)
      leftMs -= performance.now() - since
    })
  }
  try {
    const response = await within(() =>
      fetch(`${url.replace(/\/+$/, '')}/l2/kupo/matches?unspent`, {
        redirect: 'error',
        signal: AbortSignal.any([signal, stop.signal]),
      }),
    )
    if (response.status !== 200 || response.body === null)
      throw new Error(`GET /l2/kupo/matches: status ${response.status}`)
    const split = createSplitter()
    const pieces = response.body.getReader()
    for (;;) {
      const { done, value } = await within(() => pieces.read())
      if (done) break
      for (const text of split.push(value)) yield matchOf(JSON.parse(text))
    }
    if (!split.isComplete) throw new Error('GET /l2/kupo/matches: the list does not end')
  } finally {
    stop.abort()
  }
}

function matchOf({ transaction_id: id, output_index: index, address }: Record<string, unknown>): KupoMatch {
  if (typeof id === 'string' && /^[0-9a-f]{64}$/.test(id) && Number.isInteger(index))
    return { key: `${id}#${index}`, address: String(address) }
  throw new Error('GET /l2/kupo/matches: the list has something that is no output')
}

/** Cuts an array of objects, which arrives in pieces, into the texts of the objects. */
function createSplitter() {
  const decoder = new TextDecoder()
  let text = ''
  let position = 0
  let start = -1
  let depth = 0
  let isString = false
  let isComplete = false

  /** Reads one character. @returns whether an object ends with it */
  function read(character: string): boolean {
    if (isString) {
      if (character === '\\') position++
      else if (character === '"') isString = false
      return false
    }
    if (character === '"') isString = true
    else if (character === '{' || character === '[') {
      if (++depth === 2) start = position
    } else if (character === '}' || character === ']') {
      if (--depth === 0) isComplete = true
      return depth === 1
    }
    return false
  }

  return {
    get isComplete() {
      return isComplete
    },
    push(piece: Uint8Array): readonly string[] {
      text += decoder.decode(piece, { stream: true })
      const found: string[] = []
      for (; position < text.length; position++) {
        if (!read(text.charAt(position))) continue
        found.push(text.slice(start, position + 1))
        start = -1
      }
      const kept = start < 0 ? text.length : start
      // A skipped character may not have arrived yet.
      text = text.slice(kept)
      position -= kept
      if (start >= 0) start = 0
      if (text.length > mostBytes) throw new Error('GET /l2/kupo/matches: an output is too long')
      return found
    },
  }
}

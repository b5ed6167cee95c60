/** An unspent output as Kupo lists it, as far as it is compared. */
export interface KupoMatch {
  /** Transaction id, `#`, index. */
  readonly key: string
  /** Bech32. */
  readonly address: string
}

/** Bytes of one match: an output of 16 KiB has no more assets. */
const mostBytes = 1 << 20

/** Milliseconds in which a node must send more of its list. */
const stallMs = 30_000

/**
 * The unspent outputs that a node lists by the API of Kupo, as they arrive.
 *
 * @param url base of the node
 * @throws Error if it does not answer with a list, or stops within it
 */
export async function* unspentMatches(url: string, signal: AbortSignal): AsyncGenerator<KupoMatch, void> {
  const stop = new AbortController()
  const stall = setTimeout(() => stop.abort(new Error(`it sent nothing in ${stallMs} ms`)), stallMs)
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/l2/kupo/matches?unspent`, {
      redirect: 'error',
      signal: AbortSignal.any([signal, stop.signal]),
    })
    if (response.status !== 200 || response.body === null)
      throw new Error(`GET /l2/kupo/matches: status ${response.status}`)
    const split = createSplitter()
    for await (const piece of response.body) {
      stall.refresh()
      for (const text of split.push(piece)) yield matchOf(JSON.parse(text))
    }
    if (!split.isComplete) throw new Error('GET /l2/kupo/matches: the list does not end')
  } finally {
    clearTimeout(stall)
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

import { toHex } from '@ratatosk/cbor'
import type { NativeScript, Script } from '@ratatosk/ledger'
import type { FastifyInstance } from 'fastify'
import { encodeJson } from '../../json.js'
import type { ChainView } from '../../view/chain-view.js'
import { notFound } from '../errors.js'
import { plutusJson } from '../plutus-json.js'

const types = {
  native: 'timelock',
  PlutusV1: 'plutusV1',
  PlutusV2: 'plutusV2',
  PlutusV3: 'plutusV3',
} as const

type ByHash = { Params: { hash: string } }

export function addScriptRoutes(fastify: FastifyInstance, chain: ChainView): void {
  const script = { config: { operation: 'script' as const } }
  const datum = { config: { operation: 'datum' as const } }

  async function scriptOf(hash: string): Promise<Script> {
    const found = await chain.script(hash.toLowerCase())
    if (found === undefined) throw notFound()
    return found
  }

  async function datumOf(hash: string): Promise<Uint8Array> {
    const wanted = hash.toLowerCase()
    const found = (await chain.datums([wanted])).get(wanted)
    if (found === undefined) throw notFound()
    return found
  }

  fastify.get<ByHash>('/scripts/:hash', script, async ({ params }) => {
    const { hash, language, bytes } = await scriptOf(params.hash)
    return {
      script_hash: toHex(hash),
      type: types[language],
      serialised_size: language === 'native' ? null : bytes.length,
    }
  })
  fastify.get<ByHash>('/scripts/:hash/cbor', script, async ({ params }) => {
    const { language, bytes } = await scriptOf(params.hash)
    return { cbor: language === 'native' ? null : toHex(bytes) }
  })
  fastify.get<ByHash>('/scripts/:hash/json', script, async ({ params }) => {
    const found = await scriptOf(params.hash)
    return { json: found.language === 'native' ? nativeJson(found.script) : null }
  })

  fastify.get<ByHash>('/scripts/datum/:hash', datum, async ({ params }, reply) =>
    reply.type('application/json').send(encodeJson({ json_value: plutusJson(await datumOf(params.hash)) })),
  )
  fastify.get<ByHash>('/scripts/datum/:hash/cbor', datum, async ({ params }) => ({
    cbor: toHex(await datumOf(params.hash)),
  }))
}

function nativeJson(script: NativeScript): unknown {
  switch (script.kind) {
    case 'signature':
      return { type: 'sig', keyHash: toHex(script.keyHash) }
    case 'all':
    case 'any':
      return { type: script.kind, scripts: script.scripts.map(nativeJson) }
    case 'at-least':
      return { type: 'atLeast', required: Number(script.required), scripts: script.scripts.map(nativeJson) }
    case 'invalid-before':
      return { type: 'after', slot: Number(script.slot) }
    case 'invalid-hereafter':
      return { type: 'before', slot: Number(script.slot) }
  }
}

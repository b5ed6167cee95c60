import type { Header } from '@ratatosk/block'
import { toHex } from '@ratatosk/cbor'
import {
  answerAboutNode,
  answerIn,
  type Difference,
  encodeNodeAnswer,
  type NodeAnswer,
  nextQuestions,
  nodeAnswerFromData,
} from '@ratatosk/fraud'
import type { TrieView } from '@ratatosk/trie'
import { engines } from '../evaluate.js'
import type { World } from '../world.js'
import { type Asked, answerBy, ask, asking } from './scenarios.js'

/** How a search for a false root ends. */
export interface Search {
  /** `silence`: a question that has no answer. */
  readonly end: 'silence' | 'difference' | 'none'
  readonly difference?: Difference
  readonly questions: readonly Asked[]
  /** How often questions are asked, all at once. */
  readonly rounds: number
  /** The most bytes of an answer's redeemer, and execution units of the question and its answer. */
  readonly bytes: number
  readonly memory: number
  readonly steps: number
}

/** Who answers: with the posted map, as well as its nodes allow. */
export type Answerer = (question: Asked['question']) => NodeAnswer | undefined

export const answererOf =
  (posted: TrieView): Answerer =>
  (question) => {
    try {
      return answerAboutNode(question, { trie: posted })
    } catch (error) {
      // A false map may have branches without another leaf.
      if (error instanceof RangeError) return undefined
      throw error
    }
  }

/** Asks for the outputs after a block until a difference or no answer. Throws if the summons refuses. */
export function search(world: World, truth: TrieView, header: Header, answer: Answerer): Search {
  const posted = header.utxosRoot
  const questions: Asked[] = []
  const answers = new Map<string, NodeAnswer>()
  const nameOf = ({ kind, key, hash }: Pick<Asked['question'], 'kind' | 'key' | 'hash'>) =>
    [kind, toHex(key), toHex(hash)].join()
  let [rounds, bytes, memory, steps] = [0, 0, 0, 0]
  const ended = (end: Search['end'], difference?: Difference): Search => ({
    end,
    ...(difference && { difference }),
    questions,
    rounds,
    bytes,
    memory,
    steps,
  })
  const judge = (transaction: ReturnType<typeof ask>): boolean => {
    const ruling = engines.cek(transaction)
    if (!ruling.ok) return false
    for (const units of ruling.units) {
      memory = Math.max(memory, Number(units.memory))
      steps = Math.max(steps, Number(units.steps))
    }
    return true
  }
  for (;;) {
    const next = nextQuestions(truth, posted, (question) => answers.get(nameOf(question)))
    const [difference] = next.differences
    if (difference !== undefined) return ended('difference', difference)
    if (next.questions.length === 0) return ended('none')
    rounds++
    for (const question of next.questions.slice(0, mostAtOnce)) {
      const asked = asking(question, 1, header)
      if (!judge(ask(world, asked))) throw new Error('The summons refuses a question')
      questions.push(asked)
      const given = answer(asked.question)
      if (given === undefined) return ended('silence')
      const redeemer = encodeNodeAnswer(0, asked.question.key, given)
      if (!judge(answerBy(world, asked, redeemer))) return ended('silence')
      bytes = Math.max(bytes, redeemer.length)
      answers.set(nameOf(question), read(redeemer, asked))
    }
  }
}

/** As many as a watcher has waiting. */
const mostAtOnce = 40

/** The answer as a watcher reads it from layer 1. */
function read(redeemer: Uint8Array, { question }: Asked): NodeAnswer {
  const { key, root } = question
  return nodeAnswerFromData(answerIn(redeemer)!, { path: key.subarray(0, 32), depth: key[32]!, root })
}

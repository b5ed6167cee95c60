import { type CborReader, located, readList, readMapOf, readRecord } from '@ratatosk/cbor'
import { readNonNegativeInterval, readUnitInterval } from './primitives.js'

const maxInt64 = 2n ** 63n - 1n

/** The fields of a parameter update (CDDL `protocol_param_update`), by number. */
const fields = new Map<number, (reader: CborReader) => unknown>([
  [0, readLovelace], // min_fee_a
  [1, readLovelace], // min_fee_b
  [2, readWord32], // max_block_body_size
  [3, readWord32], // max_tx_size
  [4, readWord16], // max_block_header_size
  [5, readLovelace], // key_deposit
  [6, readLovelace], // pool_deposit
  [7, readWord32], // e_max
  [8, readWord16], // n_opt
  [9, readNonNegativeInterval], // a0
  [10, readUnitInterval], // rho
  [11, readUnitInterval], // tau
  [16, readLovelace], // min_pool_cost
  [17, readLovelace], // coins_per_utxo_byte
  [18, readCostModels],
  [19, (reader) => readEach(reader, 2, readNonNegativeInterval)], // prices
  [20, readExecutionUnits], // max_tx_ex_units
  [21, readExecutionUnits], // max_block_ex_units
  [22, readWord32], // max_val_size
  [23, readWord16], // collateral_percentage
  [24, readWord16], // max_collateral_inputs
  [25, (reader) => readEach(reader, 5, readUnitInterval)], // pool_voting_thresholds
  [26, (reader) => readEach(reader, 10, readUnitInterval)], // drep_voting_thresholds
  [27, readWord16], // committee_min_size
  [28, readWord32], // committee_max_term_length
  [29, readWord32], // gov_action_lifetime
  [30, readLovelace], // gov_action_deposit
  [31, readLovelace], // drep_deposit
  [32, readWord32], // drep_activity
  [33, readNonNegativeInterval], // min_fee_ref_script_cost_per_byte
])

/** Validates the structure of a parameter update. The GOV rule validates its content. */
export function readParameterUpdate(reader: CborReader): void {
  const count = reader.readMap()
  const seen = new Set<number>()
  for (let index = 0; reader.hasNext(count, index); index++) {
    const start = reader.position
    const key = reader.readUint()
    const readField = fields.get(key)
    if (readField === undefined) throw reader.error('CBOR_UNKNOWN_FIELD', `unknown parameter ${key}`, start)
    if (seen.has(key)) throw reader.error('CBOR_DUPLICATE', `a repeated parameter ${key}`, start)
    seen.add(key)
    try {
      readField(reader)
    } catch (error) {
      throw located(error, `[${key}]`)
    }
  }
}

/** Decodes `[memory, steps]`. Each must fit a signed 64-bit integer. */
export function readExecutionUnits(reader: CborReader): { readonly memory: bigint; readonly steps: bigint } {
  return readRecord(reader, 2, (inner) => ({ memory: readUnits(inner), steps: readUnits(inner) }))
}

function readUnits(reader: CborReader): bigint {
  const start = reader.position
  const units = reader.readUint64()
  if (units > maxInt64) throw reader.error('CBOR_OUT_OF_RANGE', 'execution units over 63 bits', start)
  return units
}

/** Language number → list of signed 64-bit integers. Models of known languages are validated at use. */
function readCostModels(reader: CborReader): void {
  readMapOf(
    reader,
    (inner) => inner.readUint(0xff),
    (inner) => readList(inner, (item) => item.readInt64()),
  )
}

function readLovelace(reader: CborReader): bigint {
  return reader.readUint64()
}

function readWord32(reader: CborReader): number {
  return reader.readUint(0xffff_ffff)
}

function readWord16(reader: CborReader): number {
  return reader.readUint(0xffff)
}

function readEach(reader: CborReader, size: number, readItem: (reader: CborReader) => unknown): void {
  readRecord(reader, size, (inner) => {
    for (let index = 0; index < size; index++) readItem(inner)
  })
}

/** The part of an `Accept` header. */
interface MediaRange {
  readonly type: string
  /** In order of their names, without the charset: `name=value;…`. */
  readonly parameters: string
  /** From 0 to 1. */
  readonly quality: number
}

function readRanges(accept: string): MediaRange[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range
      .split(';')
      .map((part) => part.replaceAll(/[\s"]/g, '').toLowerCase())
    const quality = parameters.find((each) => each.startsWith('q='))
    const others = parameters.filter((each) => !/^(q|charset)=/.test(each)).sort()
    return {
      type,
      parameters: others.join(';'),
      quality: quality === undefined ? 1 : Number(quality.slice(2)),
    }
  })
}

const quantityParameter = 'asset-quantity=string'

/** The types that include JSON, the most specific first. */
const jsonTypes = ['application/json', 'application/*', '*/*']

/** True if a client prefers quantities as text: `Accept: application/json;asset-quantity=string`. */
export function acceptsQuantityText(accept = ''): boolean {
  const ranges = readRanges(accept)
  const qualityOf = (parameters: string) => {
    const type = jsonTypes.find((name) => ranges.some((range) => isRange(range, name, parameters)))
    const qualities = ranges.filter((range) => type !== undefined && isRange(range, type, parameters))
    return Math.max(0, ...qualities.map(({ quality }) => quality))
  }
  return qualityOf(quantityParameter) > qualityOf('')
}

const isRange = (range: MediaRange, type: string, parameters: string) =>
  range.type === type && range.parameters === parameters

/** The content type of JSON that Kupo sends. */
export const jsonType = 'application/json;charset=utf-8'
export const quantityTextType = `${jsonType};${quantityParameter}`
export const textType = 'text/plain;charset=utf-8'

/** The form of the health that a client asks for; undefined for one that Kupo does not have. */
export function healthType(accept: string | undefined): typeof jsonType | typeof textType | undefined {
  if (accept === undefined) return jsonType
  const types = readRanges(accept).map(({ type }) => type)
  if (types.includes('text/plain')) return textType
  return types.includes('application/json') || types.includes('*/*') ? jsonType : undefined
}

/** The cases from which the list below was made: Blake2b-256 of their names, sorted, one per line. */
export const listedCases = '6c1793ee8c6cf72a0f13b363d747061eee07d37274c1fd4b03d0238df2d1cb6b'

/** Each case of the suite that is known to deviate, with the id of its cause (`uplc-deviations.ts`). */
export const knownDeviations: { readonly [name: string]: string } = {
  'term/var': 'open-term',
}

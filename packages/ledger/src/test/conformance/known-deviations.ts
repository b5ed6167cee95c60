/** The reason of each known deviation. Any other deviation is a defect. */
export const knownDeviations: ReadonlyMap<string, string> = new Map([
  [
    '00102-fail-script-credential-delegation-after-deregistration',
    'it also lacks the script of the credential, which these rules report; its own subject needs stake state',
  ],
  [
    'conway/pass-enact-withdrawals-exceeding-maxbound-word64-submitted-in-a-single-proposal/0[9]',
    'it proposes withdrawals of more than 2^63 − 1 lovelace, more than a script context can represent',
  ],
])

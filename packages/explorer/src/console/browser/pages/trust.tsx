import type { ExplorerTrust } from '@ratatosk/client'
import { grouped } from '../format.js'
import { Empty, Load } from '../parts.js'

/** The trust that users of this deployment need. */
export function Trust() {
  return (
    <Load<ExplorerTrust>
      path="explorer/trust"
      show={({ answers }) => (
        <>
          {answers.length === 0 && (
            <Empty>This process does not know the contracts. Ask a node that reaches layer 1.</Empty>
          )}
          {answers.map(({ risk, answer, facts }) => (
            <section key={risk}>
              <h2>{risk.replace('-', ' ')}</h2>
              <p>{answer}</p>
              <dl class="facts">
                {facts.map(({ name, value }) => (
                  <>
                    <dt>{name}</dt>
                    <dd>{/^\d+$/.test(value) ? grouped(value) : value}</dd>
                  </>
                ))}
              </dl>
            </section>
          ))}
        </>
      )}
    />
  )
}

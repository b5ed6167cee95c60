import { judgeRules } from '../../test/judge-rules.js'
import { summonsBreaches } from '../../test/summons/breaches.js'
import { scenarios } from '../../test/summons/scenarios.js'

judgeRules('summons', scenarios, summonsBreaches)

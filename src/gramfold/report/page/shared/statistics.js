// The few functions of probability that intervals need, to about the precision of a double.

const ROUNDS = 200; // of bisection, at most
const TERMS = 1_000; // of a continued fraction, at most
const SMALL = 1e-300;

// Wichura, Algorithm AS 241, Applied Statistics 37 (1988): numerators and denominators, lowest power first
const MIDDLE = [
  [3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727],
  [1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610],
];
const NEAR = [
  [1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 0.000774545014278341407640],
  [1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590, 0.0151986665636164571966, 0.000547593808499534494600, 1.05075007164441684324e-9],
];
const FAR = [
  [6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230, 0.0265321895265761230930, 0.00124266094738807843860, 0.0000271155556874348757815, 2.01033439929228813265e-7],
  [1, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 0.000786869131145613259100, 0.0000184631831751005468180, 1.42151175831644588870e-7, 2.04426310338993978564e-15],
];

const ratioOf = ([above, below], x) => powers(above, x) / powers(below, x);
const powers = (factors, x) => factors.reduceRight((sum, factor) => sum * x + factor, 0);

/** The number that a normal deviate is above with this chance. */
export function normalDeviate(tail) {
  const share = 1 - tail;
  const q = 0.5 - tail;
  if (Math.abs(q) <= 0.425) return q * ratioOf(MIDDLE, 0.180625 - q * q);
  const r = Math.sqrt(-Math.log(q < 0 ? share : tail));
  const size = r <= 5 ? ratioOf(NEAR, r - 1.6) : ratioOf(FAR, r - 5);
  return q < 0 ? -size : size;
}

// Lanczos' sum with g = 607/128, as Godfrey computed it
const LANCZOS = [0.99999999999999709182, 57.156235665862923517, -59.597960355475491248, 14.136097974741747174, -0.49191381609762019978, 0.000033994649984811888699, 0.000046523628927048575665, -0.000098374475304879564677, 0.00015808870322491248884, -0.00021026444172410488319, 0.00021743961811521264320, -0.00016431810653676389022, 0.000084418223983852743293, -0.000026190838401581408670, 0.0000036899182659531622704];

/** Logarithm of the gamma function of a positive number. */
export function logGamma(x) {
  const base = x + 607 / 128 - 0.5;
  let sum = LANCZOS[0];
  for (let k = 1; k < LANCZOS.length; k++) sum += LANCZOS[k] / (x - 1 + k);
  return Math.log(sum * Math.sqrt(2 * Math.PI)) + (x - 0.5) * Math.log(base) - base;
}

/** The regularised incomplete beta function, by Lentz's continued fraction. */
export function incompleteBeta(a, b, x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let product = d;
  for (let m = 1; m <= TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    product *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    product *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * product;
}

const nonzero = (value) => (Math.abs(value) < SMALL ? SMALL : value);

/** Where the incomplete beta function has this value. */
export function betaQuantile(a, b, share) {
  return bisected((x) => incompleteBeta(a, b, x) <= share, 0, 1);
}

/** The end of the part of [inside, outside] that begins at `inside` and in which `holds`. */
export function bisected(holds, inside, outside) {
  for (let round = 0; round < ROUNDS; round++) {
    const middle = 0.5 * (inside + outside);
    if (middle === inside || middle === outside) break;
    if (holds(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

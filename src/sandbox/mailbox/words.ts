import type { Person } from './letter.ts';

/** The material for one kind of letter: `subjects` and `lines` to pick from. `{year}` becomes the letter's year. */
type Kind = {
  readonly people: readonly Person[];
  readonly subjects: readonly string[];
  readonly lines: readonly string[];
};

const FAMILY: Kind = {
  people: [
    { name: 'Jürgen Müller', email: 'juergen@mueller-familie.example' },
    { name: 'Oma Käthe', email: 'kaethe@mueller-familie.example' },
    { name: 'Zoë Keller', email: 'zoe.keller@post.example' },
    { name: 'Uncle Bill', email: 'bill.keller@ranch.example' },
  ],
  subjects: [
    'Sunday lunch',
    'Grüße aus Köln',
    'Photos from the lake',
    'Happy birthday!',
    'Weihnachten {year}',
    'The new puppy',
    'Re: Who brings the cake?',
    'Das Rezept für den Apfelkuchen',
    'Grandpa’s old radio',
    'Summer {year}',
  ],
  lines: [
    'We had such a good time last week, thank you for coming.',
    'Die Kinder lassen schön grüßen.',
    'I found the picture you asked for and put it in.',
    'The garden looks better than ever this year.',
    'Could you bring the blue bowl when you come?',
    'Es hat den ganzen Tag geregnet, aber wir haben viel gelacht.',
    'Call me when you are home, it is nothing urgent.',
    'The doctor says everything is fine.',
  ],
};
const NEWS: Kind = {
  people: [
    { name: 'San Bruno Library', email: 'news@library.example' },
    { name: 'The Seed Catalogue', email: 'hello@seeds.example' },
    { name: 'Choir on the Hill', email: 'choir@hill.example' },
  ],
  subjects: [
    'What is on in {year}',
    'Your monthly letter',
    'New opening hours',
    'Concert next Saturday',
    'Tomatoes, early and late',
  ],
  lines: [
    'Doors open at seven, and the coffee is free.',
    'Our summer programme is out; you will find it below.',
    'Members get ten percent off until the end of the month.',
    'Volunteers are welcome, just come along.',
  ],
};
const BILLS: Kind = {
  people: [
    { name: 'Bay Water & Power', email: 'billing@water.example' },
    { name: 'First Harbor Bank', email: 'statements@harborbank.example' },
    { name: 'County Tax Office', email: 'noreply@tax.example' },
  ],
  subjects: [
    'Your bill for {year}',
    'Statement available',
    'Payment received, thank you',
    'Reminder: due on the 15th',
    'Receipt',
  ],
  lines: [
    'Your statement is attached.',
    'The amount will be taken from your account on the 15th.',
    'Please keep this letter for your tax return.',
    'If you have paid already, you need not do anything.',
  ],
};
const TRAVEL: Kind = {
  people: [
    { name: '京都旅館', email: 'stay@ryokan.example' },
    { name: 'Pacific Air', email: 'tickets@pacificair.example' },
    { name: 'Zoë Keller', email: 'zoe.keller@post.example' },
  ],
  subjects: ['ご予約の確認', 'Your ticket to Osaka', 'Packing list', '写真を送ります', 'Hotel in Kyoto', 'Train times'],
  lines: [
    'チェックインは午後三時からです。',
    'Please be at the airport two hours before.',
    'The mornings are cold, take a warm coat.',
    'お会いできるのを楽しみにしています。',
    'Breakfast is included.',
  ],
};
const WORK: Kind = {
  people: [
    { name: 'Dana Ortiz', email: 'dana@workshop.example' },
    { name: 'Priya Nair', email: 'priya@workshop.example' },
    { name: 'Łukasz Wójcik', email: 'lukasz@workshop.example' },
  ],
  subjects: [
    'Minutes of Monday',
    'Re: Offer {year}',
    'Draft of the plan',
    'Lunch?',
    'Fwd: Delivery is late',
    'Question about the drawing',
  ],
  lines: [
    'I put my remarks into the file.',
    'Let us talk about it on Thursday.',
    'The customer has agreed to the new date.',
    'Can you have a look before noon?',
    'Good work, everybody.',
  ],
};
const JUNK: Kind = {
  people: [
    { name: 'PRIZE DEPARTMENT', email: 'win@lucky.example' },
    { name: 'Dr. Pills', email: 'cheap@pharma.example' },
  ],
  subjects: ['YOU HAVE WON', 'Cheap watches', 'Re: your account', '??? last chance'],
  lines: ['Click now, only today.', 'This is not a joke.', 'You were chosen out of one million.'],
};

export const KINDS = { family: FAMILY, news: NEWS, bills: BILLS, travel: TRAVEL, work: WORK, junk: JUNK } as const;
export type KindName = keyof typeof KINDS;

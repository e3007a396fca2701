import type { ReactNode } from 'react';
import { BarsLoader } from '../../src/portal/parts/bars-loader.tsx';
import { Card, Facts } from '../../src/portal/parts/card.tsx';
import { Countdown } from '../../src/portal/parts/countdown.tsx';
import { DRAWINGS } from '../../src/portal/parts/drawings.ts';
import { Footer } from '../../src/portal/parts/footer.tsx';
import { Header } from '../../src/portal/parts/header.tsx';
import { Page } from '../../src/portal/parts/page.tsx';
import { ProgressBar } from '../../src/portal/parts/progress-bar.tsx';
import { StepList } from '../../src/portal/parts/step-list.tsx';
import { countdown, shared, steps } from '../../src/portal/wording.ts';

export default { title: 'Parts/Page' };

const stay = () => {};

function Steps({ current, primary = true }: { readonly current: number; readonly primary?: boolean }) {
  const names = steps.names(primary);
  return (
    <Page
      heading="The steps"
      title="The steps"
      steps={
        <StepList
          label={steps.label}
          steps={names}
          current={current}
          summary={steps.summary(current, names)}
          doneLabel={steps.done}
        />
      }
    >
      <p>On a phone they are one line with a bar.</p>
    </Page>
  );
}

function Alone({ children }: { readonly children: ReactNode }) {
  return (
    <Page heading="A part of a page" title="A part of a page">
      {children}
    </Page>
  );
}

export const StepOne = () => <Steps current={1} />;
export const StepTwo = () => <Steps current={2} />;
export const StepTwoElsewhere = () => <Steps current={2} primary={false} />;
export const StepThree = () => <Steps current={3} />;
export const StepFour = () => <Steps current={4} />;

export const Loader = () => <BarsLoader label={shared.loading} text={shared.oneMoment} />;
export const LoaderSlow = () => <BarsLoader label={shared.loading} text={shared.slow} />;

export const CountdownDays = () => <TimeLeft unit="day" count={41} />;
export const CountdownOneDay = () => <TimeLeft unit="day" count={1} />;
export const CountdownHours = () => <TimeLeft unit="hour" count={23} />;
export const CountdownOver = () => <TimeLeft unit="day" count={0} />;

export const Progress = () => (
  <Alone>
    <ProgressBar label="Messages moved" done={8_214} total={21_403} />
  </Alone>
);
export const ProgressOfUnknown = () => (
  <Alone>
    <ProgressBar label="Messages moved" done={0} total={0} />
  </Alone>
);
export const Cards = () => (
  <Alone>
    <div className="columns">
      <Card icon={DRAWINGS.at} title="You keep your email address">
        <p>Your San Bruno address stays yours.</p>
      </Card>
      <Card icon={DRAWINGS.calendar} title="Timeline">
        <p>You can move for 90 days.</p>
      </Card>
    </div>
    <Facts facts={[{ icon: 'shield', text: shared.nothingDeleted('San Bruno') }]} />
  </Alone>
);
export const HeaderAndFooter = () => (
  <>
    <Header name="San Bruno" homeLabel={shared.home} faqLabel={shared.faq} faqUrl="#faq" onHome={stay} />
    <Alone>
      <p>Between header and footer.</p>
    </Alone>
    <Footer
      owner={shared.owner('San Bruno', '650 555 0100')}
      links={[
        { href: '#privacy', text: shared.privacy, onFollow: stay },
        { href: '#terms', text: shared.terms, onFollow: stay },
        { href: '#support', text: shared.support, onFollow: stay },
      ]}
    />
  </>
);

function TimeLeft({ unit, count }: { readonly unit: 'day' | 'hour'; readonly count: number }) {
  return (
    <Alone>
      <Countdown figure={countdown({ unit, count })}>
        <p className="strong">until access to San Bruno email ends</p>
      </Countdown>
    </Alone>
  );
}
